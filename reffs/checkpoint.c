/* checkpoint.c -- the ioctls of reffs.h, and the flags of inodes. */
#include "reffs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

#include "base/err.h"
#include "reffs/notify.h"
#include "reffs/pickle.h"
#include "reffs/reffs.h"

static void restore(struct request *r, const struct reffs_key *key)
{
	struct state before;
	struct buf stale = BUF_INIT;

	/* The request's own descriptors belong to the state that goes. */
	core_leave(r->core);
	r->error = -core_restore(r->core, key->key, key->flags & REFFS_DISCARD, &before);
	if (r->error) {
		reply_status(r);
		return;
	}
	notifier_compare(r->core, &before, &stale);
	state_free(&before);
	request_end(r);
	notifier_tell(r->front->notifier, &stale, r->req);
}

static void reply_done(struct request *r)
{
	request_end(r);
	if (r->error)
		fuse_reply_err(r->req, r->error);
	else
		fuse_reply_ioctl(r->req, 0, NULL, 0);
}

static void handle_key(struct request *r, unsigned cmd, const struct reffs_key *key)
{
	switch (cmd) {
	case REFFS_SAVE:
		core_save(r->core, key->key);
		break;
	case REFFS_DROP:
		r->error = -core_drop(r->core, key->key);
		break;
	case REFFS_RESTORE:
		restore(r, key);
		return;
	}
	reply_done(r);
}

static void handle_file(struct request *r, unsigned cmd, const struct reffs_file *file)
{
	const uint64_t *key = file->flags & REFFS_POOL ? NULL : (const uint64_t *)&file->key;
	struct err err = { 0 };

	if (!memchr(file->path, 0, sizeof(file->path)) || file->path[0] != '/')
		r->error = EINVAL;
	else if (cmd == REFFS_PICKLE)
		r->error = -pickle_write(r->core, key, file->path, &err);
	else
		r->error = -pickle_read(r->core, key, file->path, &err);
	reply_done(r);
}

/* ---- flags of inodes: the kernel asks in the words of both ext2 and xfs ---- */

static uint32_t to_xflags(unsigned flags)
{
	return (flags & FS_IMMUTABLE_FL ? FS_XFLAG_IMMUTABLE : 0) |
	       (flags & FS_APPEND_FL ? FS_XFLAG_APPEND : 0);
}

static unsigned from_xflags(uint32_t xflags)
{
	return (xflags & FS_XFLAG_IMMUTABLE ? FS_IMMUTABLE_FL : 0) |
	       (xflags & FS_XFLAG_APPEND ? FS_APPEND_FL : 0);
}

static void get_flags(struct request *r, fuse_ino_t ino, unsigned cmd)
{
	const struct inode *inode = request_inode(r, ino);
	unsigned flags = inode ? inode->flags : 0;
	struct fsxattr x = { .fsx_xflags = to_xflags(flags) };

	request_end(r);
	if (r->error)
		fuse_reply_err(r->req, r->error);
	else if (cmd == FS_IOC_GETFLAGS)
		fuse_reply_ioctl(r->req, 0, &flags, sizeof(flags));
	else
		fuse_reply_ioctl(r->req, 0, &x, sizeof(x));
}

static void set_flags(struct request *r, fuse_ino_t ino, unsigned flags)
{
	struct call call = { .op = OP_set_inode_flags };

	call.set_inode_flags.fd = request_open(r, ino, O_RDONLY);
	call.set_inode_flags.flags.num = flags;
	if (flags & ~(unsigned)(FS_IMMUTABLE_FL | FS_APPEND_FL))
		r->error = r->error ? r->error : EOPNOTSUPP;
	request_call(r, &call);
	reply_done(r);
}

static bool handle_flags(struct request *r, fuse_ino_t ino, unsigned cmd, const void *in,
			 size_t in_size)
{
	struct fsxattr x;
	unsigned flags;

	if (cmd == FS_IOC_GETFLAGS || cmd == FS_IOC_FSGETXATTR) {
		get_flags(r, ino, cmd);
		return true;
	}
	if (cmd == FS_IOC_SETFLAGS && in_size >= sizeof(flags)) {
		memcpy(&flags, in, sizeof(flags));
		set_flags(r, ino, flags);
		return true;
	}
	if (cmd == FS_IOC_FSSETXATTR && in_size >= sizeof(x)) {
		memcpy(&x, in, sizeof(x));
		set_flags(r, ino, from_xflags(x.fsx_xflags));
		return true;
	}
	return false;
}

static bool is_checkpoint(unsigned cmd)
{
	return cmd == REFFS_SAVE || cmd == REFFS_RESTORE || cmd == REFFS_DROP ||
	       cmd == REFFS_PICKLE || cmd == REFFS_LOAD;
}

void front_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg, struct fuse_file_info *fi,
		 unsigned flags, const void *in, size_t in_size, size_t out_size)
{
	struct request r;

	request_begin(&r, req);
	if (is_checkpoint(cmd) && r.caller.uid && r.caller.uid != r.front->owner)
		r.error = EPERM;
	else if (is_checkpoint(cmd) && in_size < _IOC_SIZE(cmd))
		r.error = EINVAL;
	if (r.error) {
		reply_status(&r);
		return;
	}
	switch (cmd) {
	case REFFS_SAVE:
	case REFFS_RESTORE:
	case REFFS_DROP:
		handle_key(&r, cmd, in);
		return;
	case REFFS_PICKLE:
	case REFFS_LOAD:
		handle_file(&r, cmd, in);
		return;
	}
	if (handle_flags(&r, ino, cmd, in, in_size))
		return;
	r.error = ENOTTY;
	reply_status(&r);
}
