/* checkpoint.c -- the ioctls of reffs.h, and the flags of inodes. */
#include "reffs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "reffs/notify.h"
#include "reffs/pickle.h"
#include "reffs/reffs.h"
#include "reffs/transfer.h"

static void checkpoint_restore(struct request *r, const struct reffs_key *key)
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
	notifier_send(r->front->notifier, &stale, r->req);
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
	if (key->reserved || key->flags & ~(cmd == REFFS_RESTORE ? (unsigned)REFFS_DISCARD : 0))
		r->error = EINVAL;
	else if (cmd == REFFS_SAVE)
		r->error = -core_save(r->core, key->key, NULL);
	else if (cmd == REFFS_DROP)
		r->error = -core_drop(r->core, key->key);
	else {
		checkpoint_restore(r, key);
		return;
	}
	reply_done(r);
}

/* ---- pickles: nothing here holds the core's lock, and nothing here touches a file ---- */

/* The answer with what is in use of its bytes; a failure brings its reason. */
static void reply_piece(struct request *r, struct reffs_piece *out, int error,
			const struct err *err)
{
	if (error) {
		out->flags |= REFFS_REASON;
		out->len = (uint32_t)strlen(err->text);
		memcpy(out->bytes, err->text, out->len);
	}
	fuse_reply_ioctl(r->req, error, out, offsetof(struct reffs_piece, bytes) + out->len);
}

static const uint64_t *piece_key(const struct reffs_piece *piece)
{
	return piece->flags & REFFS_POOL ? NULL : (const uint64_t *)&piece->key;
}

static int transfer_failed(int64_t error, struct err *err)
{
	switch (error) {
	case -ESTALE:
		return err_set(err, ESTALE, "there is no such transfer");
	case -EBUSY:
		return err_set(err, EBUSY, "too many pickles are under way");
	}
	return err_sys(err, (int)-error, "cannot begin");
}

/* Bytes of a transfer, of a new one where it has no number yet. */
static int pickle_out(struct front *f, pid_t client, const struct reffs_piece *in,
		      struct reffs_piece *out, struct err *err)
{
	int64_t number = (int64_t)in->transfer;
	struct buf bytes = BUF_INIT;
	int r = 0;

	if (!number) {
		r = pickle_pack(&f->core, piece_key(in), &bytes, err);
		number = r ? 0 : transfers_begin(f->transfers, client, &bytes);
		buf_free(&bytes);
	}
	if (r)
		return r;
	if (number > 0)
		r = transfers_read(f->transfers, (uint64_t)number, out->bytes, REFFS_PIECE_MAX);
	if (number < 0 || r < 0)
		return transfer_failed(number < 0 ? number : r, err);
	out->transfer = (uint64_t)number;
	out->len = (uint32_t)r;
	return 0;
}

static int load_last(struct front *f, uint64_t number, const struct reffs_piece *in,
		     struct err *err)
{
	struct buf bytes = BUF_INIT;
	int r = transfers_finish(f->transfers, number, &bytes);

	r = r ? transfer_failed(r, err) : pickle_unpack(&f->core, piece_key(in), &bytes, err);
	buf_free(&bytes);
	return r;
}

static int transfer_give_up(struct front *f, uint64_t number, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int r = transfers_finish(f->transfers, number, &bytes);

	buf_free(&bytes);
	return r ? transfer_failed(r, err) : 0;
}

static int load_in(struct front *f, pid_t client, const struct reffs_piece *in,
		   struct reffs_piece *out, struct err *err)
{
	int64_t number = (int64_t)in->transfer;
	struct buf none = BUF_INIT;
	int r;

	if (transfers_bytes(f->transfers) + in->len > core_memory_left(&f->core)) {
		transfer_give_up(f, in->transfer, NULL);
		return err_set(err, ENOSPC, "the memory for states is used up");
	}
	if (!number)
		number = transfers_begin(f->transfers, client, &none);
	if (number < 0)
		return transfer_failed(number, err);
	r = transfers_append(f->transfers, (uint64_t)number, in->bytes, in->len);
	if (r)
		return transfer_failed(r, err);
	out->transfer = (uint64_t)number;
	return in->flags & REFFS_LAST ? load_last(f, (uint64_t)number, in, err) : 0;
}

static int check_piece(unsigned cmd, const struct reffs_piece *in, struct err *err)
{
	unsigned flags = REFFS_POOL | REFFS_GIVE_UP | (cmd == REFFS_LOAD ? REFFS_LAST : 0);

	if (in->reserved || in->flags & ~flags || in->transfer > INT64_MAX)
		return err_set(err, EINVAL, "a flag or field that is not known");
	if (in->len > (cmd == REFFS_LOAD ? REFFS_PIECE_MAX : 0))
		return err_set(err, EINVAL, "a length that cannot be");
	return 0;
}

static void handle_piece(struct request *r, unsigned cmd, const struct reffs_piece *in)
{
	pid_t client = fuse_req_ctx(r->req)->pid;
	struct reffs_piece out = { .key = in->key, .flags = in->flags };
	struct err err = { 0 };
	int error;

	request_end(r);
	error = check_piece(cmd, in, &err);
	if (error)
		;
	else if (in->flags & REFFS_GIVE_UP)
		error = transfer_give_up(r->front, in->transfer, &err);
	else if (cmd == REFFS_PICKLE)
		error = pickle_out(r->front, client, in, &out, &err);
	else
		error = load_in(r->front, client, in, &out, &err);
	reply_piece(r, &out, error, &err);
}

/* ---- flags of inodes: the kernel asks in the words of both ext2 and xfs ---- */

enum { FLAGS_KNOWN = FS_IMMUTABLE_FL | FS_APPEND_FL };

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

/* Without those that only the model knows. */
static void get_flags(struct request *r, fuse_ino_t ino, unsigned cmd)
{
	const struct inode *inode = request_inode(r, ino);
	unsigned flags = inode ? inode->flags & FLAGS_KNOWN : 0;
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
	if (flags & ~(unsigned)FLAGS_KNOWN)
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

/* Ours by number, whatever the size of its argument. */
static bool is_checkpoint(unsigned cmd)
{
	return _IOC_TYPE(cmd) == _IOC_TYPE(REFFS_SAVE) && _IOC_NR(cmd) >= _IOC_NR(REFFS_SAVE) &&
	       _IOC_NR(cmd) <= _IOC_NR(REFFS_LOAD);
}

static void handle_checkpoint(struct request *r, unsigned cmd, const void *in, size_t in_size)
{
	if (r->caller.uid && r->caller.uid != r->front->owner)
		r->error = EPERM;
	else if (in_size != _IOC_SIZE(cmd))
		r->error = EINVAL;
	if (r->error) {
		reply_status(r);
		return;
	}
	switch (cmd) {
	case REFFS_SAVE:
	case REFFS_RESTORE:
	case REFFS_DROP:
		handle_key(r, cmd, in);
		return;
	case REFFS_PICKLE:
	case REFFS_LOAD:
		handle_piece(r, cmd, in);
		return;
	}
	r->error = EINVAL; /* of another version of reffs.h */
	reply_status(r);
}

void front_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg, struct fuse_file_info *fi,
		 unsigned flags, const void *in, size_t in_size, size_t out_size)
{
	struct request r;

	request_begin(&r, req);
	if (is_checkpoint(cmd)) {
		handle_checkpoint(&r, cmd, in, in_size);
		return;
	}
	if (handle_flags(&r, ino, cmd, in, in_size))
		return;
	r.error = ENOTTY;
	reply_status(&r);
}
