/* check_data.c -- is the data of a recovered file what a crash may leave? */
#include <string.h>

#include "persistence/check.h"

size_t check_first_step(const struct check *x, uint64_t ino, size_t from)
{
	while (from <= x->w.begun && !window_inode(&x->w, from, ino))
		from++;
	return from;
}

/* A write in progress may have made the file longer by a part of it; where nothing is in order, by
 * a block that the checker finds. */
static bool size_allowed(struct check *x, uint64_t ino, uint64_t size)
{
	size_t floor = window_size_floor(&x->w, ino), first = check_first_step(x, ino, floor);
	uint64_t before = first > floor ? 0 : window_inode(&x->w, first, ino)->size;
	struct buf text = BUF_INIT;

	if (size == before)
		return true;
	for (size_t i = first; i <= x->w.begun; i++) {
		const struct inode *inode = window_inode(&x->w, i, ino);

		if (!inode)
			break;
		if (size == inode->size || (before < size && size < inode->size) ||
		    (x->w.p->rules.stale_data && size > inode->size && i > floor &&
		     size - inode->size < TREE_BLOCK))
			return true;
		before = inode->size;
	}
	buf_addf(&text, "has %llu bytes instead of %llu", (unsigned long long)size,
		 (unsigned long long)before);
	check_report(x, size < before ? "size too small" : "size wrong", floor, text.data,
		     "fsync and fdatasync make the size of a file durable");
	buf_free(&text);
	return false;
}

static void read_block(const struct tree *t, uint64_t ino, uint64_t offset, char *to)
{
	size_t len = tree_inode(t, ino) ? tree_read(t, ino, offset, to, TREE_BLOCK) : 0;

	memset(to + len, 0, TREE_BLOCK - len);
}

/* The last step that promised each byte of a block. Returns the last of them. */
static size_t byte_floors(const struct check *x, uint64_t ino, uint64_t offset, size_t len,
			  size_t ret[TREE_BLOCK])
{
	size_t floor = window_data_floor(&x->w, ino, offset, offset + len), last = floor;

	for (size_t at = 0; at < len; at++)
		ret[at] = floor;
	for (size_t i = floor + 1; i <= x->w.done; i++) {
		const struct promise *promise = &x->w.p->steps[i].promise;

		if (promise->kind != PROMISE_RANGE || promise->ino != ino)
			continue;
		for (size_t at = 0; at < len; at++)
			if (promise->from <= offset + at && offset + at < promise->to)
				ret[at] = last = i;
	}
	return last;
}

/* The place of the first byte that no step since its floor has; len: all are allowed. */
static size_t first_wrong_byte(const struct check *x, uint64_t ino, uint64_t offset,
			       const char *seen, size_t len)
{
	size_t floors[TREE_BLOCK], last = byte_floors(x, ino, offset, len, floors), next;
	bool right[TREE_BLOCK] = { false };
	char bytes[TREE_BLOCK];

	for (size_t i = window_data_floor(&x->w, ino, offset, offset + len); i <= x->w.begun;
	     i = next) {
		const struct inode *inode = window_inode(&x->w, i, ino);

		for (next = i + 1; next <= x->w.begun && window_inode(&x->w, next, ino) == inode;
		     next++)
			;
		read_block(window_tree(&x->w, i), ino, offset, bytes);
		if (last < next && !memcmp(bytes, seen, len))
			return len;
		for (size_t at = 0; at < len; at++)
			right[at] |= bytes[at] == seen[at] && floors[at] < next;
	}
	for (size_t at = 0; at < len; at++)
		if (!right[at])
			return at;
	return len;
}

/* Where a write of data failed, ext4 commits its block all the same (data_err=ignore), with what it
 * had before. */
static bool data_is_open(const struct check *x, uint64_t ino, size_t floor)
{
	size_t failed = x->w.p->failed;

	return failed > floor && failed <= x->w.begun &&
	       window_inode(&x->w, floor, ino) != window_inode(&x->w, failed, ino);
}

/* How far the calls behind `from`, up to `to`, have moved the end of the file. */
static int64_t moved_by(const struct check *x, uint64_t ino, size_t from, size_t to)
{
	int64_t by = 0;

	for (size_t i = from + 1; i <= to; i++) {
		const struct inode *before = window_inode(&x->w, i - 1, ino);
		const struct inode *after = window_inode(&x->w, i, ino);

		if (x->w.p->steps[i].moved == ino && before && after)
			by += (int64_t)(after->size - before->size);
	}
	return by;
}

/* Data that was moved keeps its blocks, which are overwritten in place, and a crash can undo the
 * moving alone: what step `j` has at an offset shows where step `i` had that block. */
static bool byte_was_moved(const struct check *x, uint64_t ino, size_t floor, uint64_t offset,
			   char seen)
{
	for (size_t i = floor; i <= x->w.begun; i++)
		for (size_t j = floor; j <= x->w.begun; j++) {
			int64_t by = j > i ? moved_by(x, ino, i, j) : -moved_by(x, ino, j, i);
			char byte = 0;

			if (by < 0 && (uint64_t)-by > offset)
				continue;
			if (window_inode(&x->w, j, ino))
				tree_read(window_tree(&x->w, j), ino, offset + (uint64_t)by, &byte,
					  1);
			if (byte == seen)
				return true;
		}
	return false;
}

/* Whether moved data explains what was seen. */
static bool data_was_moved(const struct check *x, uint64_t ino, size_t floor, uint64_t offset,
			   const char *seen, size_t len)
{
	bool moved = false;

	for (size_t i = floor + 1; i <= x->w.begun; i++)
		moved |= x->w.p->steps[i].moved == ino;
	for (size_t at = 0; at < len && moved; at++)
		moved = !seen[at] || byte_was_moved(x, ino, floor, offset + at, seen[at]);
	return moved;
}

/* A byte was promised where its file had it when all of that was made durable last. */
static bool byte_was_promised(const struct check *x, uint64_t ino, uint64_t offset, size_t len,
			      size_t at)
{
	size_t floors[TREE_BLOCK];
	const struct inode *inode;

	byte_floors(x, ino, offset, len, floors);
	inode = window_inode(&x->w, floors[at], ino);
	return inode && offset + at < inode->size;
}

/* The first byte of a block that is wrong. */
static void report_wrong_byte(struct check *x, uint64_t ino, uint64_t offset, size_t len, size_t at,
			      char seen)
{
	size_t floor = window_data_floor(&x->w, ino, offset, offset + len);
	bool promised = byte_was_promised(x, ino, offset, len, at);
	struct buf text = BUF_INIT;

	if (x->found)
		return;
	buf_addf(&text, "has wrong data at offset %llu: 0x%02x", (unsigned long long)offset + at,
		 (unsigned char)seen);
	if (!promised)
		buf_adds(&text, ", which no call has written there");
	check_report(x, seen ? "data wrong" : "data missing", floor, text.data,
		     promised
			     ? "after fsync, fdatasync or a synchronous write the data is durable; "
			       "other data is what was there before or what was written"
			     : "data that is not durable yet is what was there before, zeros "
			       "behind what was the end, or what was written");
	x->broken->exposed = !promised;
	buf_free(&text);
}

static bool block_allowed(struct check *x, uint64_t ino, const struct inode *seen, uint64_t block)
{
	uint64_t offset = block * TREE_BLOCK;
	char bytes[TREE_BLOCK];
	size_t len, wrong, floor;

	if (offset >= seen->size)
		return true;
	len = seen->size - offset < TREE_BLOCK ? (size_t)(seen->size - offset) : TREE_BLOCK;
	floor = window_data_floor(&x->w, ino, offset, offset + len);
	if ((x->w.p->rules.stale_data && floor < x->w.begun &&
	     window_inode(&x->w, floor, ino) != window_inode(&x->w, x->w.begun, ino)) ||
	    data_is_open(x, ino, floor))
		return true;
	read_block(x->seen, seen->ino, offset, bytes);
	wrong = first_wrong_byte(x, ino, offset, bytes, len);
	if (wrong == len || data_was_moved(x, ino, floor, offset, bytes, len))
		return true;
	report_wrong_byte(x, ino, offset, len, wrong, bytes[wrong]);
	return false;
}

/* All blocks that an inode has, but for those that `seen` or `before` (NULL: there is none) has. */
static bool blocks_allowed(struct check *x, uint64_t ino, const struct inode *seen,
			   const struct inode *with_blocks, const struct inode *before)
{
	uint64_t block;

	for (bool first = true; pmap_next(&with_blocks->file.blocks, first, &block); first = false)
		if ((with_blocks == seen || !pmap_get(&seen->file.blocks, block)) &&
		    (!before || !pmap_get(&before->file.blocks, block)) &&
		    !block_allowed(x, ino, seen, block))
			return false;
	return true;
}

/* Whether all of it is as after one of the calls since the last promise: as in most crashes. */
static bool data_is_of_one_step(const struct check *x, uint64_t ino, const struct inode *seen)
{
	for (size_t i = x->w.begun + 1; i-- > x->w.base;) {
		const struct inode *inode = window_inode(&x->w, i, ino);
		const struct promise *promise = &x->w.p->steps[i].promise;

		if (inode && inode->size == seen->size &&
		    hash_equal(inode->file.data, seen->file.data))
			return true;
		if (i <= x->w.done && promise->ino == ino && promise->kind >= PROMISE_INODE)
			return false;
	}
	return false;
}

/* Only blocks that one of them has can differ: the rest is zero in all. */
bool check_data(struct check *x, uint64_t ino, const struct inode *seen)
{
	if (!(x->seen->fields & TREE_DATA) || data_is_of_one_step(x, ino, seen))
		return true;
	if (!size_allowed(x, ino, seen->size) || !blocks_allowed(x, ino, seen, seen, NULL))
		return false;
	for (size_t i = x->w.base; i <= x->w.begun; i++) {
		const struct inode *inode = window_inode(&x->w, i, ino);
		const struct inode *before = i > x->w.base ? window_inode(&x->w, i - 1, ino) : NULL;

		if (inode && inode != before && !blocks_allowed(x, ino, seen, inode, before))
			return false;
	}
	return true;
}
