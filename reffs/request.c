/* request.c -- one FUSE request on its way through the model. */
#include "reffs/request.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

void request_begin_raw(struct request *r, struct front *f, const struct requester *caller)
{
	r->front = f;
	r->core = &f->core;
	r->caller = *caller;
	r->error = 0;
	pthread_mutex_lock(&r->core->lock);
	core_enter(r->core, caller);
}

/* Not part of a request: the caller's process is asked. */
static size_t ask_groups(fuse_req_t req, uint32_t *groups)
{
	int count = fuse_req_getgroups(req, REQUEST_GROUPS_MAX, groups);

	if (count < 0)
		return 0;
	return (size_t)(count < REQUEST_GROUPS_MAX ? count : REQUEST_GROUPS_MAX);
}

void request_begin(struct request *r, fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct front *f = fuse_req_userdata(req);
	struct requester caller = { ctx->uid, ctx->gid, r->groups, 0 };

	r->req = req;
	if (f->core.options.own_permissions)
		caller.group_count = ask_groups(req, r->groups);
	request_begin_raw(r, f, &caller);
}

/* Whether a write takes the setgid bit away depends on the writer's groups, and the kernel does
 * not see to it: the model must, with the true credentials. */
static void know_groups(struct request *r)
{
	r->caller.group_count = ask_groups(r->req, r->groups);
	r->caller.groups = r->groups;
	state_set_groups(&r->core->state, r->caller.uid, r->groups, r->caller.group_count);
	state_edit_process(&r->core->state, CORE_PID)->trusted = false;
}

const struct inode *request_inode(struct request *r, fuse_ino_t ino)
{
	const struct inode *inode = core_inode(r->core, ino);

	if (!inode && !r->error)
		r->error = ESTALE;
	return inode;
}

struct arg request_open(struct request *r, fuse_ino_t ino, int64_t flags)
{
	const struct inode *inode = request_inode(r, ino);
	struct arg fd = { .num = -1 };

	if (!inode)
		return fd;
	if (inode->mode & S_ISGID && S_ISREG(inode->mode) && (flags & O_ACCMODE) != O_RDONLY)
		know_groups(r);
	fd.num = core_open(r->core, ino, flags);
	return fd;
}

void request_need(struct request *r, fuse_ino_t ino, int want)
{
	if (request_inode(r, ino) && !r->error)
		r->error = core_access(r->core, ino, want);
}

void request_need_inode(struct request *r, fuse_ino_t parent, const char *name)
{
	if (!core_inodes_free(r->core) && request_inode(r, parent) &&
	    !tree_find(&r->core->state.tree, parent, name, strlen(name)))
		r->error = r->error ? r->error : ENOSPC;
}

int request_call(struct request *r, struct call *call)
{
	if (!r->error)
		r->error = core_call(r->core, call, &r->outcome);
	return r->error;
}

int request_call_removing(struct request *r, struct call *call, fuse_ino_t dir, const char *name)
{
	if (!r->error)
		r->error = core_call_removing(r->core, call, dir, name, &r->outcome);
	return r->error;
}

/* Before 1970, too, the nanoseconds are counted forwards. */
static struct timespec time_of(int64_t nanoseconds)
{
	int64_t seconds = nanoseconds / 1000000000, rest = nanoseconds % 1000000000;

	return rest < 0 ? (struct timespec){ seconds - 1, rest + 1000000000 }
			: (struct timespec){ seconds, rest };
}

void request_stat(const struct inode *inode, struct stat *ret)
{
	*ret = (struct stat){
		.st_ino = inode->ino,
		.st_mode = inode->mode,
		.st_nlink = inode->nlink,
		.st_uid = inode->uid,
		.st_gid = inode->gid,
		.st_rdev = inode->rdev,
		.st_size = S_ISDIR(inode->mode) ? TREE_BLOCK : (off_t)inode->size,
		.st_blksize = TREE_BLOCK,
		.st_blocks = (blkcnt_t)(tree_blocks(inode) * (TREE_BLOCK / 512)),
		.st_atim = time_of(inode->times.access),
		.st_mtim = time_of(inode->times.modify),
		.st_ctim = time_of(inode->times.change),
	};
}

void request_entry(struct request *r, uint64_t ino, struct fuse_entry_param *ret)
{
	*ret = (struct fuse_entry_param){
		.ino = ino,
		.generation = core_generation(r->core, ino),
		.attr_timeout = r->front->timeout_seconds,
		.entry_timeout = r->front->timeout_seconds,
	};
	request_stat(core_inode(r->core, ino), &ret->attr);
	core_hold(r->core, ino);
}

void request_end(struct request *r)
{
	core_leave(r->core);
	pthread_mutex_unlock(&r->core->lock);
}

void reply_status(struct request *r)
{
	request_end(r);
	fuse_reply_err(r->req, r->error);
}

void reply_take_back(struct request *r, const uint64_t *inos, size_t count)
{
	pthread_mutex_lock(&r->core->lock);
	for (size_t i = 0; i < count; i++)
		core_forget(r->core, inos[i], 1);
	pthread_mutex_unlock(&r->core->lock);
}

void reply_entry(struct request *r, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry = { .entry_timeout = r->front->timeout_seconds };
	const struct entry *found;

	if (r->error) {
		reply_status(r);
		return;
	}
	found = tree_find(&r->core->state.tree, parent, name, strlen(name));
	if (found)
		request_entry(r, found->ino, &entry);
	request_end(r);
	/* Without an object the entry says: there is none, and that may be remembered. */
	if (fuse_reply_entry(r->req, &entry) == -ENOENT && entry.ino)
		reply_take_back(r, &(uint64_t){ entry.ino }, 1);
}
