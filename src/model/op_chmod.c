/* op_chmod.c -- chmod, fchmod, fchmodat: permission bits. */
#include "model/acl.h"
#include "model/attr.h"
#include "model/io.h"

const struct inode *need_object(struct step *x, int64_t dirfd, const struct arg *path,
				unsigned flags)
{
	struct where w;

	resolve(x, dirfd, path, flags, NULL, &w);
	if (refuse_where(x, &w))
		return NULL;
	if (w.kind == WHERE_NONE) {
		refuse(x, RULE_object_missing);
		return NULL;
	}
	return where_inode(x, &w);
}

const struct inode *need_open_object(struct step *x, const struct arg *fd, bool any)
{
	const struct open_file *f = any ? need_file(x, fd, RULE_io_bad_fd) : need_io(x, fd);

	return f ? file_inode(x, f) : NULL;
}

void may_refuse_unkept(struct step *x)
{
	may_refuse(x, RULE_attr_not_kept);
	may_refuse(x, RULE_call_unserved);
}

/* The setgid bit of a file whose group is not the caller's is not theirs to set. */
static uint32_t mode_granted(struct step *x, const struct inode *inode, uint32_t mode)
{
	if (mode & S_ISGID && !is_root(x) && !in_group(x, inode->gid) &&
	    holds(x, S_ISREG(inode->mode) ? RULE_chmod_drops_setgid : RULE_chmod_drops_setgid_any))
		mode &= ~(uint32_t)S_ISGID;
	return mode;
}

/* The list of an object shows its permission bits. */
static void follow_mode(struct step *x, const struct inode *inode)
{
	struct acl acl;

	if (!acl_of(inode, NAME_OF_ACCESS_ACL, &acl))
		return;
	acl_set_mode(&acl, inode->mode);
	acl_put(x, inode->ino, NAME_OF_ACCESS_ACL, &acl);
}

static void step_set_mode(struct step *x, const struct inode *inode, int64_t mode)
{
	struct inode *edited;

	if (!inode)
		return;
	if (x->state->read_only)
		refuse(x, RULE_attr_read_only);
	if (inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))
		refuse(x, RULE_attr_immutable);
	if (!is_owner(x, inode))
		refuse(x, RULE_chmod_owner);
	if (mode & (S_ISUID | S_ISGID) && !is_root(x))
		leave_undefined(x, RULE_chmod_bits_open);
	if (x->model->traits.no_modes)
		may_refuse_unkept(x);
	if (!proceed(x))
		return;
	mode = mode_granted(x, inode, mode_kept(x, (uint32_t)mode & 07777));
	edited = tree_edit(&x->state->tree, inode->ino);
	edited->mode = (edited->mode & S_IFMT) | (uint32_t)mode;
	touch_change(x, edited->ino);
	follow_mode(x, edited);
	if (x->model->traits.no_modes)
		may_touch(x, edited->ino, TIME_BIT_CHANGE);
}

void model_chmod(struct step *x)
{
	step_set_mode(x, need_object(x, AT_FDCWD, &x->call->chmod.path, WALK_FOLLOW),
		      x->call->chmod.mode.num);
}

void model_fchmod(struct step *x)
{
	step_set_mode(x, need_open_object(x, &x->call->fchmod.fd, false), x->call->fchmod.mode.num);
}

void model_fchmodat(struct step *x)
{
	step_set_mode(x,
		      need_object(x, x->call->fchmodat.dirfd.num, &x->call->fchmodat.path,
				  WALK_FOLLOW),
		      x->call->fchmodat.mode.num);
}
