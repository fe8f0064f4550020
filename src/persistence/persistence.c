/* persistence.c -- a history of trees, and what each call has promised of them. */
#include "persistence/persistence.h"

#include <fcntl.h>
#include <linux/falloc.h>
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
		.stale_blocks = traits->crash_stale_blocks,
		.damage = traits->crash_leaves_damage,
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

static int64_t descriptor_flags(const struct state *s, const struct call *c, const struct arg *fd)
{
	const struct open_file *f = state_file(s, c->pid, fd->num);

	return f ? f->flags : 0;
}

/* Of a transfer of so many bytes by a descriptor. */
static struct promise range_of_write(const struct state *before, const struct state *after,
				     const struct call *c, const struct arg *fd, int64_t offset,
				     int64_t count)
{
	const struct open_file *f = state_file(before, c->pid, fd->num);
	const struct open_file *moved = state_file(after, c->pid, fd->num);
	int64_t from = offset;

	if (!f || !moved || count <= 0)
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
static struct promise range_of_written_file(const struct state *before, const struct state *after,
					    int64_t flags, int64_t offset, int64_t count)
{
	uint64_t ino = changed_file(before, after);

	if (count <= 0 || offset < 0 || !ino)
		return (struct promise){ 0 };
	if (flags & O_APPEND)
		offset = (int64_t)tree_inode(&after->tree, ino)->size - count;
	return (struct promise){ PROMISE_RANGE, ino, (uint64_t)offset, (uint64_t)(offset + count) };
}

/* The bytes that a call has written; PROMISE_NONE: none, or it is not known which. */
static struct promise written_range(const struct state *before, const struct call *c,
				    const struct outcome *o, const struct state *after)
{
	switch (c->op) {
	case OP_write:
		return range_of_write(before, after, c, &c->write.fd, -1, o->num);
	case OP_write_all:
		return range_of_write(before, after, c, &c->write_all.fd, -1, o->num);
	case OP_pwrite:
		return range_of_write(before, after, c, &c->pwrite.fd, c->pwrite.offset.num,
				      o->num);
	case OP_pwrite_all:
		return range_of_write(before, after, c, &c->pwrite_all.fd, c->pwrite_all.offset.num,
				      o->num);
	case OP_pwritev2:
		return range_of_write(before, after, c, &c->pwritev2.fd, c->pwritev2.offset.num,
				      o->num);
	case OP_write_file:
		return range_of_written_file(before, after, c->write_file.flags.num,
					     c->write_file.offset.num, o->num);
	default:
		return (struct promise){ 0 };
	}
}

/* Whether the bytes that it writes are durable when it returns. */
static bool is_synchronous(const struct state *before, const struct call *c)
{
	switch (c->op) {
	case OP_write:
		return descriptor_flags(before, c, &c->write.fd) & O_DSYNC;
	case OP_write_all:
		return descriptor_flags(before, c, &c->write_all.fd) & O_DSYNC;
	case OP_pwrite:
		return descriptor_flags(before, c, &c->pwrite.fd) & O_DSYNC;
	case OP_pwrite_all:
		return descriptor_flags(before, c, &c->pwrite_all.fd) & O_DSYNC;
	case OP_pwritev2:
		return descriptor_flags(before, c, &c->pwritev2.fd) & O_DSYNC ||
		       c->pwritev2.flags.num & (RWF_DSYNC | RWF_SYNC);
	case OP_write_file:
		return c->write_file.flags.num & O_DSYNC;
	default:
		return false;
	}
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
	case OP_msync:
		return promise_of_msync(before, c);
	default:
		return is_synchronous(before, c) ? written_range(before, c, o, after)
						 : (struct promise){ 0 };
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

/* The file whose blocks get other offsets. */
static uint64_t moved_file(const struct state *before, const struct call *c,
			   const struct state *after)
{
	const int64_t moves = FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;

	if ((c->op == OP_fallocate && c->fallocate.mode.num & moves) ||
	    (c->op == OP_fallocate_file && c->fallocate_file.mode.num & moves))
		return changed_file(before, after);
	return 0;
}

/* ---- after a failed request ---- */

/* fsync(2), EIO: "Since Linux 4.13, errors from write-back will be reported to all file descriptors
 * that might have written the data which triggered the error." Each of them learns of it once:
 * afterwards the pages are clean (Documentation/filesystems/vfs.rst, "Handling errors during
 * writeback"), and the next fsync has nothing to write and returns 0. POSIX says of fsync that
 * fails: "outstanding I/O operations are not guaranteed to have been completed". So
 *
 *	a call that fails promises nothing;
 *	sync and syncfs within which a request fails promise nothing: they need not report it;
 *	what was not durable when a request failed is promised by no later call;
 *	what is changed afterwards, of an object that was durable then or is new, is promised as
 *	ever: a file system that cannot keep that has to return an error;
 *	of an object that was not, the bytes that were written last since then. */

/* Is a disk request, or an allocation, to fail within the call? */
static bool failed_meets(const struct state *before, const struct call *c)
{
	return state_failures(before) && !(op_table[c->op].traits & (TRAIT_ENV | TRAIT_PROC));
}

/* The last step before a failure that promised everything. */
static size_t failed_base(const struct persistence *p)
{
	size_t base = p->failed - 1;

	while (base && p->steps[base].promise.kind != PROMISE_ALL)
		base--;
	return base;
}

/* Has the object changed since it was promised for the last time before a failure? */
static bool failed_was_dirty(const struct persistence *p, uint64_t ino)
{
	size_t step = p->failed - 1;

	while (step && p->steps[step].promise.kind != PROMISE_ALL &&
	       (p->steps[step].promise.kind != PROMISE_INODE || p->steps[step].promise.ino != ino))
		step--;
	return tree_inode(&p->steps[step].tree, ino) != tree_inode(&p->steps[p->failed].tree, ino);
}

/* Whether the promise that call c makes at the last step holds, after what has failed. */
static bool failed_leaves(const struct persistence *p, const struct call *c,
			  const struct promise *promise)
{
	const struct tree *then = &p->steps[p->failed].tree;

	if (!p->failed)
		return true;
	if (p->failed == p->count - 1)
		return c->op != OP_sync && c->op != OP_syncfs;
	if (promise->kind == PROMISE_ALL)
		return pmap_same(&p->steps[failed_base(p)].tree.inodes, &then->inodes);
	return !tree_inode(then, promise->ino) || !failed_was_dirty(p, promise->ino);
}

/* What is left of the promise where that does not hold: writing again makes pages dirty again. */
static struct promise failed_rewritten(const struct persistence *p, const struct promise *promise)
{
	const struct tree *durable = &p->steps[failed_base(p)].tree;

	if ((promise->kind != PROMISE_INODE && promise->kind != PROMISE_DATA) ||
	    !tree_inode(durable, promise->ino))
		return (struct promise){ 0 };
	for (size_t i = p->count - 2; i > p->failed; i--)
		if (p->steps[i].written.ino == promise->ino)
			return p->steps[i].written;
	return (struct promise){ 0 };
}

void persistence_add(struct persistence *p, const struct state *before, const struct call *c,
		     const struct outcome *o, const struct state *after)
{
	size_t first = p->count;
	struct persist_step *step;

	persistence_add_passed(p, before, c, after);
	step = persistence_append(p, &after->tree);
	step->calls++;
	step->moved = moved_file(before, c, after);
	must(p->count - first <= PERSIST_STEPS_MAX);
	if (failed_meets(before, c))
		p->failed = p->count - 1;
	if (o->error || (p->rules.sync_keeps_nothing && (c->op == OP_sync || c->op == OP_syncfs)))
		return;
	step->promise = promise_of(before, c, o, after);
	step->written = written_range(before, c, o, after);
	if (step->promise.ino && is_removed(p, &after->tree, step->promise.ino))
		step->promise = (struct promise){ 0 };
	else if (!failed_leaves(p, c, &step->promise))
		step->promise = failed_rewritten(p, &step->promise);
}

void broken_promise_free(struct broken_promise *b)
{
	buf_free(&b->seen);
	buf_free(&b->reason);
}
