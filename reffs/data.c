/* data.c -- requests about contents: open, read, write, allocate, seek, copy.
 *
 * There are no handles: the kernel keeps an open object alive by holding it, and every request
 * names its object. Opening only asks whether one may. */
#include "reffs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/must.h"

static int want_of(int flags)
{
	switch (flags & O_ACCMODE) {
	case O_RDONLY:
		return R_OK;
	case O_WRONLY:
		return W_OK;
	}
	return R_OK | W_OK;
}

/* What the inode flags forbid to all users. */
static int open_forbidden(const struct inode *inode, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC;

	if (inode->flags & FS_IMMUTABLE_FL && writes)
		return EPERM;
	if (inode->flags & FS_APPEND_FL && writes && (!(flags & O_APPEND) || flags & O_TRUNC))
		return EPERM;
	return 0;
}

void front_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	const struct inode *inode;
	struct request r;

	request_begin(&r, req);
	request_need(&r, ino, want_of(fi->flags));
	inode = request_inode(&r, ino);
	if (inode && !r.error)
		r.error = open_forbidden(inode, fi->flags);
	request_end(&r);
	fi->keep_cache = 1;
	/* Stores to a mapping are recorded at the latest when the file is closed. */
	fi->noflush = !r.core->recorder;
	if (r.error)
		fuse_reply_err(req, r.error);
	else
		fuse_reply_open(req, fi);
}

void front_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct request r;

	request_begin(&r, req);
	/* After ENOSYS the kernel does not send this request again. */
	if (!r.core->options.own_permissions)
		r.error = ENOSYS;
	request_need(&r, ino, R_OK);
	request_end(&r);
	if (r.error)
		fuse_reply_err(req, r.error);
	else
		fuse_reply_open(req, fi);
}

void front_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		struct fuse_file_info *fi)
{
	const struct inode *inode;
	struct request r;
	char *bytes = must_alloc(size);
	size_t len = 0;

	request_begin(&r, req);
	inode = request_inode(&r, ino);
	if (inode && S_ISREG(inode->mode))
		len = tree_read(&r.core->state.tree, ino, (uint64_t)offset, bytes, size);
	request_end(&r);
	if (r.error)
		fuse_reply_err(req, r.error);
	else
		fuse_reply_buf(req, bytes, len);
	free(bytes);
}

/* Space for len bytes at offset; shorter where it ends, ENOSPC where there is none. */
static uint64_t write_room(struct request *r, fuse_ino_t ino, off_t offset, uint64_t len)
{
	const struct inode *inode = request_inode(r, ino);
	uint64_t fits = len;

	if (inode && S_ISREG(inode->mode) && offset >= 0)
		fits = core_room(r->core, ino, (uint64_t)offset, len);
	if (len && !fits && !r->error)
		r->error = ENOSPC;
	return fits;
}

static void reply_count(struct request *r)
{
	int64_t count = r->outcome.num;

	request_end(r);
	if (r->error)
		fuse_reply_err(r->req, r->error);
	else
		fuse_reply_write(r->req, (size_t)count);
}

void front_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
		 struct fuse_file_info *fi)
{
	struct call call = { .op = OP_pwrite };
	struct request r;

	request_begin(&r, req);
	size = write_room(&r, ino, offset, size);
	call.pwrite.fd = request_open(&r, ino, O_WRONLY);
	call.pwrite.data = data_arg(data, size);
	call.pwrite.count.num = (int64_t)size;
	call.pwrite.offset.num = offset;
	request_call(&r, &call);
	reply_count(&r);
}

void front_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	struct request r;

	request_begin(&r, req);
	if (request_inode(&r, ino))
		core_sync(r.core, ino, datasync);
	reply_status(&r);
}

void front_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t length,
		     struct fuse_file_info *fi)
{
	const int frees = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;
	struct call call = { .op = OP_fallocate };
	struct request r;

	request_begin(&r, req);
	if (!(mode & frees) && write_room(&r, ino, offset, (uint64_t)length) < (uint64_t)length)
		r.error = r.error ? r.error : ENOSPC;
	call.fallocate.fd = request_open(&r, ino, O_RDWR);
	call.fallocate.mode.num = mode;
	call.fallocate.offset.num = offset;
	call.fallocate.length.num = length;
	request_call(&r, &call);
	reply_status(&r);
}

/* Only SEEK_DATA and SEEK_HOLE come here. If the model allows several results, this is the
 * one that reports every hole. */
void front_lseek(fuse_req_t req, fuse_ino_t ino, off_t offset, int whence,
		 struct fuse_file_info *fi)
{
	const struct inode *inode;
	struct request r;
	uint64_t at = 0;

	request_begin(&r, req);
	inode = request_inode(&r, ino);
	if (inode) {
		if (offset >= 0 && (uint64_t)offset < inode->size)
			at = tree_seek(&r.core->state.tree, ino, (uint64_t)offset,
				       whence == SEEK_DATA);
		else
			r.error = ENXIO;
		if (whence == SEEK_DATA && at == inode->size)
			r.error = ENXIO;
	}
	request_end(&r);
	if (r.error)
		fuse_reply_err(req, r.error);
	else
		fuse_reply_lseek(req, (off_t)at);
}

void front_copy_file_range(fuse_req_t req, fuse_ino_t ino_in, off_t off_in,
			   struct fuse_file_info *fi_in, fuse_ino_t ino_out, off_t off_out,
			   struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct call call = { .op = OP_copy_file_range };
	struct request r;

	request_begin(&r, req);
	call.copy_file_range.length.num = (int64_t)write_room(&r, ino_out, off_out, len);
	call.copy_file_range.fd_in = request_open(&r, ino_in, O_RDONLY);
	call.copy_file_range.off_in.num = off_in;
	call.copy_file_range.fd_out = request_open(&r, ino_out, O_WRONLY);
	call.copy_file_range.off_out.num = off_out;
	call.copy_file_range.flags.num = flags;
	request_call(&r, &call);
	reply_count(&r);
}
