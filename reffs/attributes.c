/* attributes.c -- requests about attributes: modes, owners, times, extended attributes, space. */
#include "reffs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/must.h"
#include "op/capability.h"

static void reply_attr(struct request *r, fuse_ino_t ino)
{
	const struct inode *inode = request_inode(r, ino);
	struct stat st;

	if (inode)
		request_stat(inode, &st);
	request_end(r);
	if (r->error)
		fuse_reply_err(r->req, r->error);
	else
		fuse_reply_attr(r->req, &st, r->front->timeout_seconds);
}

void front_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request r;

	request_begin(&r, req);
	reply_attr(&r, ino);
}

static void need_truncate(struct request *r, fuse_ino_t ino)
{
	const struct inode *inode = request_inode(r, ino);

	request_need(r, ino, W_OK);
	if (inode && inode->flags & (FS_IMMUTABLE_FL | FS_APPEND_FL) && !r->error)
		r->error = EPERM;
}

static void set_size(struct request *r, struct arg fd, off_t size)
{
	struct call call = { .op = OP_ftruncate };

	call.ftruncate.fd = fd;
	call.ftruncate.length.num = size;
	request_call(r, &call);
}

static void request_set_owner(struct request *r, struct arg fd, const struct stat *attr, int to_set)
{
	struct call call = { .op = OP_fchown };

	call.fchown.fd = fd;
	call.fchown.uid.num = to_set & FUSE_SET_ATTR_UID ? (int64_t)attr->st_uid : -1;
	call.fchown.gid.num = to_set & FUSE_SET_ATTR_GID ? (int64_t)attr->st_gid : -1;
	request_call(r, &call);
}

static void request_set_mode(struct request *r, struct arg fd, mode_t mode)
{
	struct call call = { .op = OP_fchmod };

	call.fchmod.fd = fd;
	call.fchmod.mode.num = mode & 07777;
	request_call(r, &call);
}

/* The kernel takes setuid and setgid bits away before it passes on a write, in the name of the
 * writer, who need not be the owner. Write permission is enough to clear them. */
static bool kills_privilege(struct request *r, fuse_ino_t ino, mode_t mode, int to_set)
{
	const struct inode *inode = request_inode(r, ino);

	return inode && to_set == FUSE_SET_ATTR_MODE && (mode & 07777) != (inode->mode & 07777) &&
	       (mode & 07777) == (inode->mode & 07777 & (mode | ~(mode_t)(S_ISUID | S_ISGID))) &&
	       !core_access(r->core, ino, W_OK);
}

/* A mode beside a size is the present one without the setuid and setgid bits that the kernel takes
 * away: it knows the caller's capabilities, which in a user namespace do not go by the number. */
static void drop_privilege(struct request *r, fuse_ino_t ino, struct arg fd, mode_t mode)
{
	const struct inode *inode = request_inode(r, ino);
	const mode_t bits = S_ISUID | S_ISGID;

	if (!inode || r->error || !(inode->mode & ~mode & bits))
		return;
	state_edit_process(&r->core->state, CORE_PID)->trusted = true;
	request_set_mode(r, fd, inode->mode & (mode | ~bits));
}

/* In nanoseconds; beyond what these can say, some 292 years from 1970, the last that can be said,
 * as file systems do. */
static int64_t time_value(const struct timespec *time, int set, int now)
{
	const int64_t seconds_max = INT64_MAX / 1000000000 - 1;

	if (now)
		return TIME_NOW;
	if (!set)
		return TIME_OMIT;
	if (time->tv_sec > seconds_max)
		return seconds_max * 1000000000;
	if (time->tv_sec < -seconds_max)
		return -seconds_max * 1000000000;
	return time->tv_sec * 1000000000 + time->tv_nsec;
}

static void set_times(struct request *r, struct arg fd, const struct stat *attr, int to_set)
{
	struct call call = { .op = OP_utimensat };

	call.utimensat.dirfd = fd;
	call.utimensat.path = text_arg("");
	call.utimensat.atime.num = time_value(&attr->st_atim, to_set & FUSE_SET_ATTR_ATIME,
					      to_set & FUSE_SET_ATTR_ATIME_NOW);
	call.utimensat.mtime.num = time_value(&attr->st_mtim, to_set & FUSE_SET_ATTR_MTIME,
					      to_set & FUSE_SET_ATTR_MTIME_NOW);
	call.utimensat.flags.num = AT_EMPTY_PATH;
	request_call(r, &call);
}

void front_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		   struct fuse_file_info *fi)
{
	const int times = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |
			  FUSE_SET_ATTR_MTIME_NOW;
	struct request r;
	struct arg fd;

	request_begin(&r, req);
	fd = request_open(&r, ino, O_RDWR);
	if (to_set & FUSE_SET_ATTR_SIZE) {
		if (!fi) /* by path: an open descriptor was checked when it was opened */
			need_truncate(&r, ino);
		set_size(&r, fd, attr->st_size);
		if (to_set & FUSE_SET_ATTR_MODE)
			drop_privilege(&r, ino, fd, attr->st_mode);
		/* The kernel adds the present time to a change of size; the model has set it. */
		to_set &= ~times;
	}
	if (to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		request_set_owner(&r, fd, attr, to_set);
	/* A mode beside a new owner is the kernel's idea of which setuid and setgid bits must go.
	 * The model has just seen to that itself. */
	if (to_set & (FUSE_SET_ATTR_SIZE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		to_set &= ~FUSE_SET_ATTR_MODE;
	if (to_set & FUSE_SET_ATTR_MODE) {
		if (kills_privilege(&r, ino, attr->st_mode, to_set))
			state_edit_process(&r.core->state, CORE_PID)->trusted = true;
		request_set_mode(&r, fd, attr->st_mode);
	}
	if (to_set & times)
		set_times(&r, fd, attr, to_set);
	reply_attr(&r, ino);
}

void front_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
	struct request r;

	request_begin(&r, req);
	request_need(&r, ino, mask);
	reply_status(&r);
}

void front_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct request r;
	struct statvfs st = { .f_bsize = TREE_BLOCK, .f_frsize = TREE_BLOCK };

	request_begin(&r, req);
	st.f_blocks = core_blocks_max(r.core);
	st.f_bfree = st.f_bavail = core_blocks_free(r.core);
	st.f_files = r.core->options.inodes_max;
	st.f_ffree = st.f_favail = core_inodes_free(r.core);
	st.f_namemax = r.core->model.traits.name_max;
	request_end(&r);
	fuse_reply_statfs(req, &st);
}

/* ---- extended attributes ---- */

/* The model does not know the format of access control lists. */
static void need_plain_name(struct request *r, const char *name)
{
	if (!strncmp(name, "system.posix_acl_", 17) && !r->error)
		r->error = EOPNOTSUPP;
}

/* The kernel takes capabilities away before it passes on a write, in the name of the writer. It
 * has checked the privilege of a caller of removexattr itself. */
static void request_trust(struct request *r, const char *name)
{
	if (!strcmp(name, NAME_OF_CAPABILITY) && !r->error)
		state_edit_process(&r->core->state, CORE_PID)->trusted = true;
}

void front_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value,
		    size_t size, int flags)
{
	struct call call = { .op = OP_fsetxattr };
	struct request r;

	request_begin(&r, req);
	need_plain_name(&r, name);
	call.fsetxattr.fd = request_open(&r, ino, O_RDWR);
	call.fsetxattr.name = text_arg(name);
	call.fsetxattr.value = data_arg(value, size);
	call.fsetxattr.size.num = (int64_t)size;
	call.fsetxattr.flags.num = flags;
	request_call(&r, &call);
	reply_status(&r);
}

/* Bytes of an outcome, or only how many they would be where the caller gave no room. The
 * outcome's bytes are the model's, so they are copied before the lock is given back. */
static void reply_bytes(struct request *r, size_t size)
{
	size_t len = r->error ? 0 : r->outcome.len;
	char *copy = size && len ? must_alloc(len) : NULL;

	if (copy)
		memcpy(copy, r->outcome.bytes, len);
	if (!r->error && !size)
		len = (size_t)r->outcome.num;
	request_end(r);
	if (r->error)
		fuse_reply_err(r->req, r->error);
	else if (size)
		fuse_reply_buf(r->req, copy, len);
	else
		fuse_reply_xattr(r->req, len);
	free(copy);
}

void front_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct call call = { .op = OP_fgetxattr };
	struct request r;

	request_begin(&r, req);
	need_plain_name(&r, name);
	call.fgetxattr.fd = request_open(&r, ino, O_RDWR);
	call.fgetxattr.name = text_arg(name);
	call.fgetxattr.size.num = (int64_t)size;
	request_call(&r, &call);
	reply_bytes(&r, size);
}

void front_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct call call = { .op = OP_flistxattr };
	const struct inode *inode;
	struct request r = { .outcome.len = 0 };

	request_begin(&r, req);
	inode = request_inode(&r, ino);
	if (inode && inode->xattrs.count) { /* seldom; and walks ask for every object */
		call.flistxattr.fd = request_open(&r, ino, O_RDWR);
		call.flistxattr.size.num = (int64_t)size;
		request_call(&r, &call);
	}
	reply_bytes(&r, size);
}

void front_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct call call = { .op = OP_fremovexattr };
	struct request r;

	request_begin(&r, req);
	need_plain_name(&r, name);
	call.fremovexattr.fd = request_open(&r, ino, O_RDWR);
	call.fremovexattr.name = text_arg(name);
	request_trust(&r, name);
	request_call(&r, &call);
	reply_status(&r);
}
