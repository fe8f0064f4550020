/* half_done.c -- what a call that runs out of space may leave behind.
 *
 * The tree that is expected is the one before the call. Costs: the data of one file is compared,
 * where the call failed for lack of space and the file is not as before. */
#include "judge/half_done.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>

#include "tree/tree.h"

/* What a call may change of the data of its file. */
struct write_reach {
	uint64_t from, to;
	bool shrinks; /* the file may become shorter */
};

static const struct write_reach reach_all = { 0, UINT64_MAX, true };

static struct write_reach reach_of(int64_t offset, int64_t length)
{
	struct write_reach r = { .from = (uint64_t)offset };

	if (offset < 0 || length < 0 || __builtin_add_overflow(r.from, (uint64_t)length, &r.to))
		return reach_all;
	return r;
}

static struct write_reach reach_of_write(int64_t flags, int64_t offset, int64_t count)
{
	if (flags & O_TRUNC)
		return reach_all;
	/* At the end: nothing that is there. */
	return flags & O_APPEND ? (struct write_reach){ .from = UINT64_MAX, .to = UINT64_MAX }
				: reach_of(offset, count);
}

static struct write_reach reach_of_fallocate(int64_t mode, int64_t offset, int64_t length)
{
	if (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
		return (struct write_reach){ (uint64_t)offset, UINT64_MAX, true };
	if (mode & ~(int64_t)FALLOC_FL_KEEP_SIZE)
		return reach_of(offset, length);
	return (struct write_reach){ .from = UINT64_MAX, .to = UINT64_MAX };
}

/* Of calls that say where they write. */
static struct write_reach reach_of_call(const struct call *c)
{
	switch (c->op) {
	case OP_write_file:
		return reach_of_write(c->write_file.flags.num, c->write_file.offset.num,
				      c->write_file.count.num);
	case OP_pwrite:
		return reach_of(c->pwrite.offset.num, c->pwrite.count.num);
	case OP_fallocate:
		return reach_of_fallocate(c->fallocate.mode.num, c->fallocate.offset.num,
					  c->fallocate.length.num);
	case OP_fallocate_file:
		return reach_of_fallocate(c->fallocate_file.mode.num, c->fallocate_file.offset.num,
					  c->fallocate_file.length.num);
	case OP_copy_file:
		return reach_of(c->copy_file.off_out.num, c->copy_file.length.num);
	case OP_copy_file_range:
		return reach_of(c->copy_file_range.off_out.num, c->copy_file_range.length.num);
	default:
		return reach_all;
	}
}

/* Are the bytes from here to there the same as before? */
static bool same_bytes(const struct tree *expected, uint64_t ino, const struct tree *seen,
		       uint64_t seen_ino, uint64_t from, uint64_t to)
{
	char want[TREE_BLOCK], got[TREE_BLOCK];
	size_t len, step;

	for (uint64_t at = from; at < to; at += step) {
		step = to - at < TREE_BLOCK ? to - at : TREE_BLOCK;
		len = tree_read(expected, ino, at, want, step);
		if (len != tree_read(seen, seen_ino, at, got, step) || memcmp(want, got, len))
			return false;
	}
	return true;
}

static bool is_kept(const struct tree *expected, const struct tree *seen, const char *path,
		    const struct write_reach *r)
{
	const struct inode *was = tree_inode(expected, fact_inode(expected, path));
	const struct inode *is = tree_inode(seen, fact_inode(seen, path));
	uint64_t size, first;

	if (!was || !is)
		return true;
	size = was->size < is->size ? was->size : is->size;
	if (is->size < was->size && !r->shrinks)
		return false;
	first = r->from < size ? r->from : size;
	return same_bytes(expected, was->ino, seen, is->ino, 0, first) &&
	       same_bytes(expected, was->ino, seen, is->ino, r->to, size);
}

static bool is_of_one_object(const struct tree *t, const char *path, const char *other)
{
	uint64_t ino = fact_inode(t, path);

	return !strcmp(path, other) || (ino && ino == fact_inode(t, other));
}

bool is_half_done(const struct tree *expected, const struct tree *seen, const struct call *c,
		  const struct discrepancy *d)
{
	int error = d->answer.error;
	bool is_space = error == ENOSPC || error == EDQUOT;
	struct write_reach reach = is_space ? reach_of_call(c) : reach_all;

	/* Where something failed, several calls in one may have been made in part, too. */
	if (!is_space &&
	    !(op_table[c->op].traits & TRAIT_META && (error == ENOMEM || error == EIO)))
		return false;
	for (size_t i = 0; i < d->fact_count; i++) {
		enum fact_kind kind = d->facts[i].kind;

		if (kind != FACT_EXTRA && kind != FACT_SIZE && kind != FACT_DATA)
			return false;
		if (!is_of_one_object(expected, d->facts[i].path, d->facts[0].path))
			return false;
		if (kind != FACT_EXTRA && !is_kept(expected, seen, d->facts[i].path, &reach))
			return false;
	}
	return d->fact_count > 0;
}

bool is_only_made(const struct discrepancy *d)
{
	for (size_t i = 0; i < d->fact_count; i++)
		if (d->facts[i].kind != FACT_EXTRA)
			return false;
	return d->fact_count > 0;
}
