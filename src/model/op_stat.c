/* op_stat.c -- stat, access, statfs and their kin: what can be asked. */
#include "model/attr.h"

#include <linux/stat.h>
#include <unistd.h>

static void give_stat_of(struct step *x, const struct inode *inode)
{
	if (inode && proceed(x))
		give_stat(x, inode);
}

void model_stat(struct step *x)
{
	give_stat_of(x, need_object(x, AT_FDCWD, &x->call->stat.path, WALK_FOLLOW));
}

void model_lstat(struct step *x)
{
	give_stat_of(x, need_object(x, AT_FDCWD, &x->call->lstat.path, WALK_KEEP_SLASH));
}

void model_fstat(struct step *x)
{
	give_stat_of(x, need_open_object(x, &x->call->fstat.fd, true));
}

/* Whether statx takes a null path for an empty one. */
static bool null_is_empty(struct step *x, int64_t dirfd, int64_t flags)
{
	bool usual = dirfd >= 0 && !(flags & AT_SYMLINK_NOFOLLOW);

	return flags & AT_EMPTY_PATH && holds(x, RULE_statx_null_path) &&
	       (usual || holds(x, RULE_statx_null_path_anywhere));
}

void model_statx(struct step *x)
{
	const int64_t known =
		AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE;
	int64_t flags = x->call->statx.flags.num;
	struct arg path = x->call->statx.path;

	if (leave_open(x, RULE_call_of_linux))
		return;
	if (x->call->statx.mask.num & STATX__RESERVED)
		refuse(x, RULE_statx_mask);
	if (flags & ~known || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE)
		refuse(x, RULE_at_flags);
	if (!path.text && null_is_empty(x, x->call->statx.dirfd.num, flags))
		path.text = "";
	give_stat_of(x, need_object(x, x->call->statx.dirfd.num, &path, walk_flags(flags)));
}

static void check_access(struct step *x, const struct inode *inode, int64_t mode)
{
	unsigned want = (mode & R_OK ? MAY_READ : 0) | (mode & W_OK ? MAY_WRITE : 0) |
			(mode & X_OK ? MAY_EXEC : 0);
	bool stored = S_ISREG(inode->mode) || S_ISDIR(inode->mode) || S_ISLNK(inode->mode);

	if (mode & W_OK && x->state->read_only && stored)
		refuse(x, RULE_attr_read_only);
	if (mode & W_OK && inode->flags & FS_IMMUTABLE_FL)
		refuse(x, RULE_access_immutable);
	/* Processes of the model have equal real and effective ids. */
	if (!x->model->traits.access_unchecked)
		refuse_denied(x, inode, want, RULE_access_denied);
	else if (!may_access(x, inode, want))
		may_refuse(x, RULE_access_denied);
}

void model_access(struct step *x)
{
	int64_t mode = x->call->access.mode.num;
	const struct inode *inode;

	if (mode & ~(int64_t)(R_OK | W_OK | X_OK))
		refuse(x, RULE_access_mode);
	inode = need_object(x, AT_FDCWD, &x->call->access.path, WALK_FOLLOW);
	if (inode)
		check_access(x, inode, mode);
}

void model_faccessat2(struct step *x)
{
	int64_t mode = x->call->faccessat2.mode.num, flags = x->call->faccessat2.flags.num;
	const struct inode *inode;

	if (mode & ~(int64_t)(R_OK | W_OK | X_OK))
		refuse(x, RULE_access_mode);
	if (flags & ~(int64_t)(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		refuse(x, RULE_at_flags);
	inode = need_object(x, x->call->faccessat2.dirfd.num, &x->call->faccessat2.path,
			    walk_flags(flags));
	if (inode)
		check_access(x, inode, mode);
}

/* Sizes and counts are the file system's own; the longest name is known. */
static void give_statfs_of(struct step *x, const struct inode *inode)
{
	if (!inode || !proceed(x))
		return;
	x->env->value.result = RESULT_STATFS;
	x->env->value.statfs = (struct statfs_result){
		.bsize = STAT_UNKNOWN,
		.blocks = STAT_UNKNOWN,
		.bfree = STAT_UNKNOWN,
		.bavail = STAT_UNKNOWN,
		.files = STAT_UNKNOWN,
		.ffree = STAT_UNKNOWN,
		.namelen = (int64_t)(x->model->traits.name_max * x->model->traits.name_char_bytes),
	};
}

void model_statfs(struct step *x)
{
	give_statfs_of(x, need_object(x, AT_FDCWD, &x->call->statfs.path, WALK_FOLLOW));
}

void model_fstatfs(struct step *x)
{
	give_statfs_of(x, need_open_object(x, &x->call->fstatfs.fd, true));
}
