/* names.c -- requests about names: look up, make, remove, move, list. */
#include "reffs/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"

static struct arg open_parent(struct request *r, fuse_ino_t ino)
{
	return request_open(r, ino, O_PATH | O_DIRECTORY);
}

void front_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct request r;

	request_begin(&r, req);
	if (strlen(name) > r.core->model.traits.name_max)
		r.error = ENAMETOOLONG;
	request_need(&r, parent, X_OK);
	reply_entry(&r, parent, name);
}

void front_forget(fuse_req_t req, fuse_ino_t ino, uint64_t times)
{
	struct front *f = fuse_req_userdata(req);

	pthread_mutex_lock(&f->core.lock);
	core_forget(&f->core, ino, times);
	pthread_mutex_unlock(&f->core.lock);
	fuse_reply_none(req);
}

void front_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct front *f = fuse_req_userdata(req);

	pthread_mutex_lock(&f->core.lock);
	for (size_t i = 0; i < count; i++)
		core_forget(&f->core, forgets[i].ino, forgets[i].nlookup);
	pthread_mutex_unlock(&f->core.lock);
	fuse_reply_none(req);
}

void front_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct call call = { .op = OP_mkdirat };
	struct request r;

	request_begin(&r, req);
	request_need_inode(&r, parent, name);
	call.mkdirat.dirfd = open_parent(&r, parent);
	call.mkdirat.path = text_arg(name);
	call.mkdirat.mode.num = mode & 07777;
	request_call(&r, &call);
	reply_entry(&r, parent, name);
}

void front_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	struct call call = { .op = OP_mknodat };
	struct request r;

	request_begin(&r, req);
	request_need_inode(&r, parent, name);
	call.mknodat.dirfd = open_parent(&r, parent);
	call.mknodat.path = text_arg(name);
	call.mknodat.mode.num = mode;
	call.mknodat.dev.num = (int64_t)rdev;
	request_call(&r, &call);
	reply_entry(&r, parent, name);
}

void front_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	struct call call = { .op = OP_symlinkat };
	struct request r;

	request_begin(&r, req);
	request_need_inode(&r, parent, name);
	call.symlinkat.target = text_arg(target);
	call.symlinkat.dirfd = open_parent(&r, parent);
	call.symlinkat.path = text_arg(name);
	request_call(&r, &call);
	reply_entry(&r, parent, name);
}

void front_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct call call = { .op = OP_linkat };
	struct request r;

	request_begin(&r, req);
	request_need(&r, parent, W_OK | X_OK);
	/* The kernel has checked that the caller may link this object; naming it by an empty
	 * path needs another privilege. */
	state_edit_process(&r.core->state, CORE_PID)->uid = 0;
	call.linkat.fromfd = request_open(&r, ino, O_PATH);
	call.linkat.from = text_arg("");
	call.linkat.tofd = open_parent(&r, parent);
	call.linkat.to = text_arg(name);
	call.linkat.flags.num = AT_EMPTY_PATH;
	request_call(&r, &call);
	reply_entry(&r, parent, name);
}

static void request_remove_name(fuse_req_t req, fuse_ino_t parent, const char *name, int flags)
{
	struct call call = { .op = OP_unlinkat };
	struct request r;

	request_begin(&r, req);
	call.unlinkat.dirfd = open_parent(&r, parent);
	call.unlinkat.path = text_arg(name);
	call.unlinkat.flags.num = flags;
	request_call_removing(&r, &call, parent, name);
	reply_status(&r);
}

void front_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	request_remove_name(req, parent, name, 0);
}

void front_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	request_remove_name(req, parent, name, AT_REMOVEDIR);
}

void front_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
		  const char *new_name, unsigned flags)
{
	struct call call = { .op = OP_renameat2 };
	struct request r;

	request_begin(&r, req);
	call.renameat2.fromfd = open_parent(&r, parent);
	call.renameat2.from = text_arg(name);
	call.renameat2.tofd = open_parent(&r, new_parent);
	call.renameat2.to = text_arg(new_name);
	call.renameat2.flags.num = flags;
	request_call_removing(&r, &call, new_parent, new_name);
	reply_status(&r);
}

void front_readlink(fuse_req_t req, fuse_ino_t ino)
{
	const struct inode *inode;
	struct request r;
	char *target = NULL;

	request_begin(&r, req);
	inode = request_inode(&r, ino);
	if (inode && S_ISLNK(inode->mode))
		target = must_strdup(inode->target->bytes);
	else if (inode)
		r.error = EINVAL;
	request_end(&r);
	if (target)
		fuse_reply_readlink(req, target);
	else
		fuse_reply_err(req, r.error);
	free(target);
}

void front_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
		  struct fuse_file_info *fi)
{
	struct call call = { .op = OP_openat };
	struct fuse_entry_param entry;
	struct request r;

	request_begin(&r, req);
	request_need_inode(&r, parent, name);
	call.openat.dirfd = open_parent(&r, parent);
	call.openat.path = text_arg(name);
	call.openat.flags.num = fi->flags & (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND);
	call.openat.mode.num = mode & 07777;
	if (request_call(&r, &call)) {
		reply_status(&r);
		return;
	}
	request_entry(&r, tree_find(&r.core->state.tree, parent, name, strlen(name))->ino, &entry);
	request_end(&r);
	fi->keep_cache = 1;
	if (fuse_reply_create(req, &entry, fi) == -ENOENT)
		reply_take_back(&r, &(uint64_t){ entry.ino }, 1);
}

int front_tmpfile(struct front *f, const struct requester *caller, fuse_ino_t parent, mode_t mode,
		  struct stat *ret)
{
	struct call call = { .op = OP_openat };
	struct fuse_entry_param entry;
	struct request r;

	request_begin_raw(&r, f, caller);
	if (!core_inodes_free(r.core))
		r.error = ENOSPC;
	call.openat.dirfd = open_parent(&r, parent);
	call.openat.path = text_arg(".");
	call.openat.flags.num = O_TMPFILE | O_RDWR;
	call.openat.mode.num = mode & 07777;
	if (!request_call(&r, &call)) {
		uint64_t ino = state_file(&r.core->state, CORE_PID, r.outcome.num)->ino;

		core_keep(r.core, ino);
		request_entry(&r, ino, &entry);
		*ret = entry.attr;
	}
	request_end(&r);
	return r.error;
}

void front_tmpfile_lost(struct front *f, uint64_t ino)
{
	pthread_mutex_lock(&f->core.lock);
	core_forget(&f->core, ino, 1);
	pthread_mutex_unlock(&f->core.lock);
}

/* ---- listing ---- */

/* Positions: 1 behind ".", 2 behind "..", then the tree's cookies above these. */
enum { OFFSET_DOTS = 2 };

struct listing {
	struct request *r;
	char *buffer;
	size_t size, used;
	bool plus;
	struct buf held; /* uint64_t: objects in the reply, which the kernel then holds */
};

/* False where the buffer is full. */
static bool listing_add(struct listing *l, const char *name, uint64_t ino, bool hold, off_t next)
{
	struct fuse_entry_param entry = { 0 };
	char *to = l->buffer + l->used;
	size_t left = l->size - l->used, need;

	request_stat(core_inode(l->r->core, ino), &entry.attr);
	if (!l->plus) {
		need = fuse_add_direntry(l->r->req, to, left, name, &entry.attr, next);
	} else {
		if (hold) {
			entry.ino = ino;
			entry.generation = core_generation(l->r->core, ino);
			entry.attr_timeout = entry.entry_timeout = l->r->front->timeout_seconds;
		}
		need = fuse_add_direntry_plus(l->r->req, to, left, name, &entry, next);
		if (hold && need <= left) {
			core_hold(l->r->core, ino);
			buf_add(&l->held, &ino, sizeof(ino));
		}
	}
	if (need > left)
		return false;
	l->used += need;
	return true;
}

static void listing_fill(struct listing *l, const struct inode *dir, off_t offset)
{
	uint64_t cookie = offset > OFFSET_DOTS ? (uint64_t)(offset - OFFSET_DOTS) : 0;
	const struct entry *e;

	if (offset < 1 && !listing_add(l, ".", dir->ino, false, 1))
		return;
	if (offset < 2 && !listing_add(l, "..", dir->dir.parent, false, 2))
		return;
	while ((e = tree_next_entry(&l->r->core->state.tree, dir->ino, &cookie)))
		if (!listing_add(l, e->name, e->ino, true, (off_t)(cookie + OFFSET_DOTS)))
			return;
}

static void reply_listing(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	struct request r;
	struct listing l = { &r, must_alloc(size), size, 0, plus, BUF_INIT };
	const struct inode *dir;

	request_begin(&r, req);
	dir = request_inode(&r, ino);
	/* A removed directory has nothing to list, not even itself. */
	if (dir && dir->nlink)
		listing_fill(&l, dir, offset);
	request_end(&r);
	if (r.error)
		fuse_reply_err(req, r.error);
	else if (fuse_reply_buf(req, l.buffer, l.used) == -ENOENT)
		reply_take_back(&r, (const uint64_t *)(void *)l.held.data,
				l.held.len / sizeof(uint64_t));
	buf_free(&l.held);
	free(l.buffer);
}

void front_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		   struct fuse_file_info *fi)
{
	reply_listing(req, ino, size, offset, false);
}

void front_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	reply_listing(req, ino, size, offset, true);
}
