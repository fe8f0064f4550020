/* op_chown.c -- chown, lchown, fchown, fchownat: owner and group. */
#include "model/attr.h"

enum { KEEP_ID = UINT32_MAX }; /* -1: the owner or group stays */

/* Who changes what: an owner may give a file to a group of theirs, root anything to anyone. */
static void check_owner(struct step *x, const struct inode *inode, uint32_t uid, uint32_t gid)
{
	bool own = x->process->uid == inode->uid;

	if (is_root(x))
		return;
	if (!own)
		may_refuse(x, RULE_chown_nothing);
	if (uid != KEEP_ID && !(own && uid == inode->uid))
		refuse(x, RULE_chown_user);
	if (gid != KEEP_ID && !(own && (gid == inode->gid || in_group(x, gid))))
		refuse(x, RULE_chown_group);
}

/* In a user namespace that maps only the user of the process. */
static void check_id_mapping(struct step *x, uint32_t uid, uint32_t gid)
{
	const struct process *p = x->process;

	if (!x->model->traits.one_user)
		return;
	if ((uid != KEEP_ID && uid != p->uid) || (gid != KEEP_ID && gid != p->gid))
		refuse(x, RULE_chown_unmapped);
}

/* The privilege bits a change of owner takes away, also where nothing changes. */
static uint32_t bits_dropped(struct step *x, const struct inode *inode, bool changes)
{
	/* Where nothing changes, fuse_setattr() looks at the mode and asks the daemon for nothing.
	 */
	bool by_mode = !changes && x->model->traits.times_cached;
	uint32_t drop = 0;

	if (S_ISDIR(inode->mode) || !holds(x, RULE_chown_drops_bits))
		return 0;
	drop |= inode->mode & S_ISUID;
	if (inode->mode & S_IXGRP || (!by_mode && !is_root(x) && !in_group(x, inode->gid)))
		drop |= inode->mode & S_ISGID;
	return drop;
}

/* Bits are part of the mode: dropping them is a change of mode, and theirs only whose it is. The
 * setgid bit that stays must be good for the new group as well. */
static void check_bits(struct step *x, const struct inode *inode, uint32_t gid, uint32_t *drop)
{
	if (!*drop)
		return;
	if (!is_owner(x, inode))
		refuse(x, RULE_chown_bits);
	if (!is_root(x) && !in_group(x, gid == KEEP_ID ? inode->gid : gid))
		*drop |= S_ISGID;
}

static void step_set_owner(struct step *x, const struct inode *inode, int64_t user, int64_t group)
{
	uint32_t uid = (uint32_t)user, gid = (uint32_t)group, drop;
	struct inode *edited;

	if (!inode)
		return;
	drop = bits_dropped(x, inode, uid != KEEP_ID || gid != KEEP_ID);
	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	check_id_mapping(x, uid, gid);
	if (inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)) {
		if (uid != KEEP_ID || gid != KEEP_ID)
			refuse(x, RULE_attr_immutable);
		else
			may_refuse(x, RULE_attr_immutable);
	}
	if (x->model->traits.no_modes || x->model->traits.no_owners)
		may_refuse_unkept(x);
	check_owner(x, inode, uid, gid);
	check_bits(x, inode, gid, &drop);
	if (!proceed(x))
		return;
	edited = tree_edit(&x->state->tree, inode->ino);
	if (uid != KEEP_ID)
		edited->uid = uid;
	if (gid != KEEP_ID)
		edited->gid = gid;
	edited->mode &= ~drop;
	if (!S_ISDIR(edited->mode))
		drop_capabilities(x, edited->ino);
	touch_change(x, edited->ino);
	/* XSH chown: with both ids -1 the change time need not be marked for update. */
	if ((uid == KEEP_ID && gid == KEEP_ID) || x->model->traits.no_modes ||
	    x->model->traits.no_owners)
		may_touch(x, edited->ino, TIME_BIT_CHANGE);
}

void model_chown(struct step *x)
{
	step_set_owner(x, need_object(x, AT_FDCWD, &x->call->chown.path, WALK_FOLLOW),
		       x->call->chown.uid.num, x->call->chown.gid.num);
}

void model_lchown(struct step *x)
{
	step_set_owner(x, need_object(x, AT_FDCWD, &x->call->lchown.path, WALK_KEEP_SLASH),
		       x->call->lchown.uid.num, x->call->lchown.gid.num);
}

void model_fchown(struct step *x)
{
	step_set_owner(x, need_open_object(x, &x->call->fchown.fd, false), x->call->fchown.uid.num,
		       x->call->fchown.gid.num);
}

void model_fchownat(struct step *x)
{
	int64_t flags = x->call->fchownat.flags.num;

	if (flags & ~(int64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) && refuse(x, RULE_at_flags))
		return;
	step_set_owner(x,
		       need_object(x, x->call->fchownat.dirfd.num, &x->call->fchownat.path,
				   walk_flags(flags)),
		       x->call->fchownat.uid.num, x->call->fchownat.gid.num);
}
