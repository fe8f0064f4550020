/* make.c -- effects that several operations share: new objects, times, privileges of files. */
#include <fcntl.h>
#include <linux/fs.h>

#include "model/acl.h"
#include "model/entry.h"
#include "op/capability.h"

/* A new object's group: the maker's, or the directory's where that says so. */
static uint32_t group_of_new(struct step *x, const struct inode *dir)
{
	if (dir->mode & S_ISGID && holds(x, RULE_setgid_group))
		return dir->gid;
	return x->process->gid;
}

static uint32_t mode_of_new(struct step *x, const struct inode *dir, uint32_t mode, uint32_t gid)
{
	uint32_t bits = S_ISGID | S_IXGRP;

	if (S_ISLNK(mode))
		return mode;
	if (dir->mode & S_ISGID && S_ISDIR(mode) && holds(x, RULE_setgid_inherited))
		mode |= S_ISGID;
	/* A user cannot create a setgid file for a group that the user is not in. */
	else if (dir->mode & S_ISGID && (mode & bits) == bits && !is_root(x) && !in_group(x, gid))
		mode &= ~(uint32_t)S_ISGID;
	return mode;
}

/* The default list of a directory takes the place of the umask. */
static uint32_t mode_inherited(struct step *x, const struct acl *acl, uint32_t mode)
{
	return (mode & ~(uint32_t)0777) | (mode & acl_mode(acl));
}

/* The lists of a new object, in a directory with a default list. */
static void inherit_acl(struct step *x, uint64_t ino, const struct acl *inherited)
{
	struct acl access = *inherited;
	uint32_t mode = tree_inode(&x->state->tree, ino)->mode;

	acl_restrict(&access, mode);
	if (!acl_is_mode(&access))
		acl_put(x, ino, NAME_OF_ACCESS_ACL, &access);
	if (S_ISDIR(mode))
		acl_put(x, ino, NAME_OF_DEFAULT_ACL, inherited);
}

uint64_t make_unnamed(struct step *x, uint64_t dir_ino, uint32_t mode)
{
	const struct inode *dir = tree_inode(&x->state->tree, dir_ino);
	uint32_t gid = group_of_new(x, dir);
	struct acl acl;
	bool inherits = !S_ISLNK(mode) && acl_of(dir, NAME_OF_DEFAULT_ACL, &acl);
	uint64_t ino;

	mode = mode_of_new(x, dir, mode, gid);
	if (inherits)
		mode = mode_inherited(x, &acl, mode);
	else if (!S_ISLNK(mode))
		mode = mode_kept(x, mode & ~x->process->umask);
	ino = tree_new(&x->state->tree, mode, x->process->uid, gid, x->state->now);
	if (inherits)
		inherit_acl(x, ino, &acl);
	return ino;
}

uint64_t make_object(struct step *x, const struct where *w, uint32_t mode)
{
	uint64_t ino = make_unnamed(x, w->parent, mode);

	add_name(x, w, ino);
	return ino;
}

void touch_modify(struct step *x, uint64_t ino)
{
	struct inode *inode = tree_edit(&x->state->tree, ino);

	inode->times.modify = x->state->now;
	inode->times.change = x->state->now;
}

void touch_change(struct step *x, uint64_t ino)
{
	tree_edit(&x->state->tree, ino)->times.change = x->state->now;
}

void may_touch(struct step *x, uint64_t ino, unsigned fields)
{
	struct envelope *env = x->env;

	must(env->optional_count < OPTIONAL_TIMES_MAX);
	env->optional_times[env->optional_count++] =
		(struct optional_times){ .ino = ino, .fields = fields };
}

void touch_access(struct step *x, uint64_t ino)
{
	may_touch(x, ino, TIME_BIT_ACCESS);
	if (x->model->traits.atime)
		tree_edit(&x->state->tree, ino)->times.access = x->state->now;
}

void touch_read(struct step *x, const struct open_file *f)
{
	struct envelope *env = x->env;
	uint64_t ino = f->ino;
	/* Direct reads of Btrfs set no time. */
	bool counts = !(f->flags & (O_NOATIME | O_DIRECT)) &&
		      !(tree_inode(&x->state->tree, ino)->flags & FS_NOATIME_FL);

	touch_access(x, ino);
	env->optional_times[env->optional_count - 1].is_read = counts;
}

uint32_t privilege_bits(struct step *x, const struct inode *inode)
{
	uint32_t bits = 0;

	if (!S_ISREG(inode->mode) || is_machine_root(x))
		return 0;
	if (inode->mode & S_ISUID)
		bits |= S_ISUID;
	/* Without group execution the bit once meant mandatory locking, and stays. */
	if (inode->mode & S_ISGID && (inode->mode & S_IXGRP || !in_group(x, inode->gid)))
		bits |= S_ISGID;
	return bits;
}

void drop_capabilities(struct step *x, uint64_t ino)
{
	const struct inode *inode = tree_inode(&x->state->tree, ino);

	if (inode->xattrs.count && tree_xattr(inode, NAME_OF_CAPABILITY) &&
	    holds(x, RULE_capability_dropped))
		tree_remove_xattr(&x->state->tree, ino, NAME_OF_CAPABILITY);
}

void drop_privileges(struct step *x, uint64_t ino)
{
	const struct inode *inode = tree_inode(&x->state->tree, ino);
	uint32_t drop = privilege_bits(x, inode);

	if (S_ISREG(inode->mode))
		drop_capabilities(x, ino);
	if (drop)
		tree_edit(&x->state->tree, ino)->mode &= ~drop;
}
