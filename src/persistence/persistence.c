/* persistence.c -- a history of trees, and what each call has promised of them. */
#include "persistence/persistence.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/must.h"

#ifndef RWF_DSYNC
#define RWF_DSYNC 0x2
#endif
#ifndef RWF_SYNC
#define RWF_SYNC 0x4
#endif

const char *const persist_level_names[PERSIST_LEVELS] = { "posix", "ordered", "strict" };

struct persist_rules persist_rules_of(const struct traits *traits)
{
	return (struct persist_rules){
		.level = traits->crash_as_a_whole ? PERSIST_STRICT
		       : traits->crash_in_order   ? PERSIST_ORDERED
						  : PERSIST_POSIX,
		.fsync_keeps_names = traits->fsync_keeps_names,
		.rename_is_atomic = traits->crash_atomic_rename,
		.sync_keeps_nothing = traits->sync_not_passed,
		.stale_data = traits->crash_stale_data,
		.stale_inodes = traits->crash_stale_inodes,
	};
}

/* The step, whose tree is a copy, behind all others. */
static struct persist_step *persistence_append(struct persistence *p, const struct tree *tree)
{
	if (p->count == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 16;
		p->steps = must_realloc(p->steps, p->cap * sizeof(*p->steps));
	}
	p->steps[p->count] = (struct persist_step){ .tree = tree_copy(tree) };
	if (p->count)
		p->steps[p->count].calls = p->steps[p->count - 1].calls;
	return &p->steps[p->count++];
}

void persistence_begin(struct persistence *p, const struct persist_rules *rules,
		       const struct tree *tree)
{
	*p = (struct persistence){ .rules = *rules };
	persistence_append(p, tree)->promise.kind = PROMISE_ALL;
}

const struct persist_step *persistence_behind(const struct persistence *p, size_t calls)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (p->steps[middle].calls < calls)
			low = middle + 1;
		else
			high = middle;
	}
	must(low < p->count && p->steps[low].calls == calls);
	return &p->steps[low];
}

void persistence_free(struct persistence *p)
{
	for (size_t i = 0; i < p->count; i++)
		tree_free(&p->steps[i].tree);
	free(p->steps);
	*p = (struct persistence){ 0 };
}

static struct promise promise_of_file(enum promise_kind kind, const struct state *s,
				      const struct call *c, const struct arg *fd)
{
	const struct open_file *f = state_file(s, c->pid, fd->num);

	return (struct promise){ f ? kind : PROMISE_NONE, f ? f->ino : 0, 0, INT64_MAX };
}

/* Of a transfer of so many bytes by a descriptor; rwf: flags of this transfer alone. */
static struct promise promise_of_write(const struct state *before, const struct state *after,
				       const struct call *c, const struct arg *fd, int64_t offset,
				       int64_t count, int64_t rwf)
{
	const struct open_file *f = state_file(before, c->pid, fd->num);
	const struct open_file *moved = state_file(after, c->pid, fd->num);
	int64_t from = offset;

	if (!f || !moved || count <= 0 ||
	    (!(f->flags & O_DSYNC) && !(rwf & (RWF_DSYNC | RWF_SYNC))))
		return (struct promise){ 0 };
	if (from < 0)
		from = moved->offset - count;
	return (struct promise){ PROMISE_RANGE, f->ino, (uint64_t)from, (uint64_t)(from + count) };
}

static void note_changed_file(void *to, uint64_t ino, const struct ref *in_a,
			      const struct ref *in_b)
{
	const struct inode *inode = (const struct inode *)in_b;
	uint64_t *changed = to;

	if (inode && S_ISREG(inode->mode))
		*changed = ino;
}

/* The one file that a call has changed, which opens it by its name; 0: none. */
static uint64_t changed_file(const struct state *before, const struct state *after)
{
	uint64_t ino = 0;

	pmap_diff(&before->tree.inodes, &after->tree.inodes, note_changed_file, &ino);
	return ino;
}

/* Of a call that opens a file by its name, writes and closes. */
static struct promise promise_of_written_file(const struct state *before, const struct state *after,
					      int64_t flags, int64_t offset, int64_t count)
{
	uint64_t ino = changed_file(before, after);

	if (!(flags & O_DSYNC) || count <= 0 || offset < 0 || !ino)
		return (struct promise){ 0 };
	if (flags & O_APPEND)
		offset = (int64_t)tree_inode(&after->tree, ino)->size - count;
	return (struct promise){ PROMISE_RANGE, ino, (uint64_t)offset, (uint64_t)(offset + count) };
}

static struct promise promise_of_msync(const struct state *before, const struct call *c)
{
	const struct mapping *map = state_mapping(before, c->pid, c->msync.map.num);
	uint64_t from;

	if (!map || !map->shared || !(c->msync.flags.num & MS_SYNC) || c->msync.length.num <= 0)
		return (struct promise){ 0 };
	from = map->offset + (uint64_t)c->msync.offset.num;
	return (struct promise){ PROMISE_RANGE, state_mapping_ino(before, map), from,
				 from + (uint64_t)c->msync.length.num };
}

static struct promise promise_of(const struct state *before, const struct call *c,
				 const struct outcome *o, const struct state *after)
{
	switch (c->op) {
	case OP_sync:
	case OP_syncfs:
	case OP_remount:
		return (struct promise){ .kind = PROMISE_ALL };
	case OP_fsync:
		return promise_of_file(PROMISE_INODE, before, c, &c->fsync.fd);
	case OP_fdatasync:
		return promise_of_file(PROMISE_DATA, before, c, &c->fdatasync.fd);
	case OP_write:
		return promise_of_write(before, after, c, &c->write.fd, -1, o->num, 0);
	case OP_write_all:
		return promise_of_write(before, after, c, &c->write_all.fd, -1, o->num, 0);
	case OP_pwrite:
		return promise_of_write(before, after, c, &c->pwrite.fd, c->pwrite.offset.num,
					o->num, 0);
	case OP_pwrite_all:
		return promise_of_write(before, after, c, &c->pwrite_all.fd,
					c->pwrite_all.offset.num, o->num, 0);
	case OP_pwritev2:
		return promise_of_write(before, after, c, &c->pwritev2.fd, c->pwritev2.offset.num,
					o->num, c->pwritev2.flags.num);
	case OP_write_file:
		return promise_of_written_file(before, after, c->write_file.flags.num,
					       c->write_file.offset.num, o->num);
	case OP_msync:
		return promise_of_msync(before, c);
	default:
		return (struct promise){ 0 };
	}
}

/* Of a file that was removed nothing is promised: it could not be found (btrfs_log_inode_parent
 * leaves it out). One that has no name yet can be given one. */
static bool is_removed(const struct persistence *p, const struct tree *now, uint64_t ino)
{
	const struct inode *inode = tree_inode(now, ino);
	bool named = false;

	for (size_t i = 0; i < p->count && inode && !inode->nlink && !named; i++) {
		const struct inode *before = tree_inode(&p->steps[i].tree, ino);

		named = before && before->nlink;
	}
	return named;
}

/* ---- calls that are several steps ---- */

/* What opening has left before the call writes: a file that is new, or cut to nothing. */
static void persistence_add_opened(struct persistence *p, const struct state *before, int64_t flags,
				   const struct state *after)
{
	uint64_t ino = changed_file(before, after);
	const struct inode *old = ino ? tree_inode(&before->tree, ino) : NULL;
	struct tree *opened;

	if (!ino || (old && !(flags & O_TRUNC)))
		return;
	opened = &persistence_append(p, &after->tree)->tree;
	tree_truncate(opened, ino, 0);
	/* The last change of the file, which fsync keeps, is the write. */
	tree_edit(opened, ino)->times = old ? old->times : (struct inode_times){ 0 };
	tree_settle(opened);
}

/* The trees that a call passes through. */
static void persistence_add_passed(struct persistence *p, const struct state *before,
				   const struct call *c, const struct state *after)
{
	if (c->op == OP_write_file)
		persistence_add_opened(p, before, c->write_file.flags.num, after);
}

void persistence_add(struct persistence *p, const struct state *before, const struct call *c,
		     const struct outcome *o, const struct state *after)
{
	size_t first = p->count;
	struct persist_step *step;

	persistence_add_passed(p, before, c, after);
	step = persistence_append(p, &after->tree);
	step->calls++;
	must(p->count - first <= PERSIST_STEPS_MAX);
	if (o->error || (p->rules.sync_keeps_nothing && (c->op == OP_sync || c->op == OP_syncfs)))
		return;
	step->promise = promise_of(before, c, o, after);
	if (step->promise.ino && is_removed(p, &after->tree, step->promise.ino))
		step->promise = (struct promise){ 0 };
}

void broken_promise_free(struct broken_promise *b)
{
	buf_free(&b->seen);
	buf_free(&b->reason);
}
