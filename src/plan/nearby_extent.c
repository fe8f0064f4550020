/* nearby_extent.c -- offsets, lengths and counts from where a file's data, holes and blocks end.
 *
 * Marks are positions that matter to a file system: the end of the file, the ends of its data and
 * holes, the blocks that these lie in, offsets of descriptors, sizes of other files. Values are the
 * marks, the positions beside each and one between each two. A length or count is the distance from
 * where the call begins to such a position. */
#include <fcntl.h>
#include <string.h>

#include "base/must.h"
#include "op/kind.h"
#include "plan/nearby_kinds.h"

enum { MARKS_MAX = 48, VALUES_MAX = 4 * MARKS_MAX, EDGES_MAX = 8, OTHERS_MAX = 6 };
enum { BLOCKS_LOOKED_AT = 4096, WORD_BITS = 64 };

/* Bytes that one call moves: more takes longer than a hundred other calls, and profiles have whole
 * megabytes. */
#define MOVED_MAX ((uint64_t)256 << 10)

/* Blocks and sectors that file systems have. */
static const uint64_t units[] = { 512, 1024, TREE_BLOCK };

struct marks {
	uint64_t at[MARKS_MAX];
	unsigned count;
	uint64_t max;
};

struct values {
	int64_t of[VALUES_MAX];
	uint8_t mark[VALUES_MAX]; /* of one between two marks: number of the first, from 1 */
	unsigned count;
};

static void marks_add(struct marks *m, uint64_t at)
{
	if (at > m->max || m->count == MARKS_MAX)
		return;
	for (unsigned i = 0; i < m->count; i++)
		if (m->at[i] == at)
			return;
	m->at[m->count++] = at;
}

/* With the ends of the block, by each unit, that it lies in. */
static void marks_add_with_blocks(struct marks *m, uint64_t at)
{
	marks_add(m, at);
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		marks_add(m, at / units[i] * units[i]);
		marks_add(m, (at / units[i] + 1) * units[i]);
	}
}

/* Which blocks of a file are there, by bits: one walk, where each search would take one. */
struct present {
	uint64_t words[BLOCKS_LOOKED_AT / WORD_BITS + 1];
	uint64_t size;
};

static void present_find(struct present *p, const struct inode *file)
{
	uint64_t index, count = (file->size + TREE_BLOCK - 1) / TREE_BLOCK;
	struct pmap_walk walk;

	p->size = file->size;
	memset(p->words, 0, (count / WORD_BITS + 1) * sizeof(*p->words));
	pmap_walk(&walk, &file->file.blocks);
	while (pmap_walk_next(&walk, &index))
		if (index < count)
			p->words[index / WORD_BITS] |= (uint64_t)1 << index % WORD_BITS;
}

/* The same as tree_seek(). */
static uint64_t present_seek(const struct present *p, uint64_t offset, bool data)
{
	uint64_t index = offset / TREE_BLOCK, at = index / WORD_BITS, flip = data ? 0 : UINT64_MAX;
	uint64_t left = (p->words[at] ^ flip) >> index % WORD_BITS << index % WORD_BITS, start;

	while (!left && (at + 1) * WORD_BITS * TREE_BLOCK < p->size)
		left = p->words[++at] ^ flip;
	if (!left)
		return p->size;
	start = (at * WORD_BITS + (uint64_t)__builtin_ctzll(left)) * TREE_BLOCK;
	if (start < offset)
		return offset;
	return start < p->size ? start : p->size;
}

/* Where data and holes of the file end. */
static void marks_add_edges(struct marks *m, const struct state *s, const struct inode *file)
{
	bool is_small = file->size <= BLOCKS_LOOKED_AT * TREE_BLOCK;
	struct present present;
	uint64_t at = 0;

	if (is_small)
		present_find(&present, file);
	for (unsigned i = 0; i < EDGES_MAX && at < file->size; i++) {
		at = is_small ? present_seek(&present, at, i % 2)
			      : tree_seek(&s->tree, file->ino, at, i % 2);
		marks_add(m, at);
	}
}

/* The smallest different sizes of files, in order, so that they do not depend on numbers of inodes.
 * Returns how many there are. */
static unsigned sizes_smallest(const struct state *s, uint64_t ret[OTHERS_MAX])
{
	const struct inode *inode;
	unsigned count = 0, at;
	struct pmap_walk walk;
	uint64_t key;

	pmap_walk(&walk, &s->tree.inodes);
	while ((inode = (const void *)pmap_walk_next(&walk, &key))) {
		if (!S_ISREG(inode->mode) || !inode->size)
			continue;
		for (at = count; at && ret[at - 1] > inode->size; at--)
			;
		if (at == OTHERS_MAX || (at && ret[at - 1] == inode->size))
			continue;
		count += count < OTHERS_MAX;
		memmove(&ret[at + 1], &ret[at], (count - 1 - at) * sizeof(*ret));
		ret[at] = inode->size;
	}
	return count;
}

/* Sizes of other files, and offsets of descriptors. */
static void marks_add_others(struct marks *m, const struct state *s, uint64_t ino)
{
	uint64_t key, sizes[OTHERS_MAX];
	unsigned count = sizes_smallest(s, sizes);
	const struct open_file *open;
	struct pmap_walk walk;

	for (unsigned i = 0; i < count; i++)
		marks_add(m, sizes[i]);
	pmap_walk(&walk, &s->files);
	while ((open = (const void *)pmap_walk_next(&walk, &key)))
		if (open->ino == ino)
			marks_add(m, (uint64_t)open->offset);
}

/* They are few. */
static void marks_sort(struct marks *m)
{
	for (unsigned i = 1; i < m->count; i++) {
		uint64_t at = m->at[i];
		unsigned to = i;

		for (; to && m->at[to - 1] > at; to--)
			m->at[to] = m->at[to - 1];
		m->at[to] = at;
	}
}

/* Of a file; without one, of an empty one. `from`: where the call begins. */
static void marks_find(struct marks *m, const struct nearby *n, const struct inode *file,
		       uint64_t from)
{
	m->count = 0;
	m->max = n->universe->size_max;
	marks_add(m, 0);
	marks_add_with_blocks(m, file ? file->size : 0);
	if (from)
		marks_add_with_blocks(m, from);
	if (file)
		marks_add_edges(m, n->state, file);
	marks_add_others(m, n->state, file ? file->ino : 0);
	marks_sort(m);
}

static void values_add(struct values *v, uint64_t position, uint64_t from, uint64_t max)
{
	int64_t value = (int64_t)(position - from);

	if (position <= from || position > max || v->count == VALUES_MAX)
		return;
	for (unsigned i = 0; i < v->count; i++)
		if (v->of[i] == value)
			return;
	v->mark[v->count] = 0;
	v->of[v->count++] = value;
}

/* The same of positions in order: one that is not behind the last is there already. */
static void values_add_behind(struct values *v, uint64_t position, uint64_t from, uint64_t max,
			      unsigned mark)
{
	int64_t value = (int64_t)(position - from);

	if (position <= from || position > max || v->count == VALUES_MAX ||
	    (v->count && value <= v->of[v->count - 1]))
		return;
	v->mark[v->count] = (uint8_t)mark;
	v->of[v->count++] = value;
}

/* A position between mark number i and the next. */
static uint64_t marks_between(const struct marks *m, const struct nearby *n, unsigned i)
{
	uint64_t gap = m->at[i + 1] - m->at[i];

	return m->at[i] + 2 + nearby_pick(n, 64 + i, gap - 3);
}

/* Of the many places between two marks, most are never taken: where there is no doubt that one is
 * within the bounds, it is worked out when it is. */
static void values_add_between(struct values *v, const struct nearby *n, const struct marks *m,
			       unsigned i, uint64_t from, uint64_t max)
{
	if (m->at[i] >= from && m->at[i + 1] <= max)
		values_add_behind(v, m->at[i] + 2, from, max, i + 1);
	else
		values_add_behind(v, marks_between(m, n, i), from, max, 0);
}

/* Distances from `from` to positions behind it. */
static void values_find(struct values *v, const struct nearby *n, const struct marks *m,
			uint64_t from, uint64_t max)
{
	v->count = 0;
	for (unsigned i = 0; i < m->count; i++) {
		uint64_t at = m->at[i], gap = i + 1 < m->count ? m->at[i + 1] - at : 0;

		if (at)
			values_add_behind(v, at - 1, from, max, 0);
		values_add_behind(v, at, from, max, 0);
		values_add_behind(v, at + 1, from, max, 0);
		if (gap > 4)
			values_add_between(v, n, m, i, from, max);
	}
}

/* Where a call that moves bytes from a descriptor's own offset begins. */
static uint64_t extent_own_offset(const struct nearby *n, unsigned arg, const struct inode *file)
{
	const struct open_file *open = NULL;

	while (arg-- && !open)
		if (op_table[n->call->op].arg[arg].kind == KIND_FD)
			open = state_file(n->state, n->call->pid, n->call->arg[arg].num);
	if (!open)
		return 0;
	return open->flags & O_APPEND && file ? file->size : (uint64_t)open->offset;
}

/* Where the bytes begin that argument number arg says the number of; 0 where it is a position or a
 * size itself. */
static uint64_t extent_from(const struct nearby *n, unsigned arg, const struct inode *file)
{
	const struct op_info *info = &op_table[n->call->op];

	if (info->arg[arg].kind == KIND_OFFSET)
		return 0;
	for (unsigned i = 0; i < info->args; i++) {
		int64_t offset = n->call->arg[i].num;

		/* One that follows has no value yet where it is nearby, too. */
		if (info->arg[i].kind == KIND_OFFSET && !n->call->arg[i].nearby)
			return offset > 0 ? (uint64_t)offset : 0;
	}
	return info->arg[arg].kind == KIND_COUNT ? extent_own_offset(n, arg, file) : 0;
}

/* Where there are more values than places, a place means one of those in its part of the list. */
static bool extent_choose(const struct nearby *n, unsigned arg, const struct values *v,
			  unsigned *ret)
{
	const struct arg *to = &n->call->arg[arg];
	unsigned place = to->nearby - 1u, part, first;
	unsigned places = kind_table[op_table[n->call->op].arg[arg].kind]->places;

	if (v->count <= places) {
		if (place >= v->count)
			return false;
		*ret = place;
		return true;
	}
	first = place * v->count / places;
	part = (place + 1) * v->count / places - first;
	*ret = first + (unsigned)nearby_pick(n, place, part);
	return true;
}

bool nearby_extent(const struct nearby *n, unsigned arg)
{
	const struct inode *file = tree_inode(&n->state->tree, nearby_object(n, arg));
	uint64_t from, max = n->universe->size_max;
	struct values values;
	struct marks marks;
	unsigned at;

	if (file && !S_ISREG(file->mode))
		file = NULL;
	from = extent_from(n, arg, file);
	if (from >= max)
		return false; /* nothing lies behind it */
	marks_find(&marks, n, file, from);
	if (op_table[n->call->op].arg[arg].kind == KIND_COUNT && from + MOVED_MAX < max)
		max = from + MOVED_MAX;
	values_find(&values, n, &marks, from, max);
	if (!extent_choose(n, arg, &values, &at))
		return false;
	n->call->arg[arg].num =
		values.mark[at] ? (int64_t)(marks_between(&marks, n, values.mark[at] - 1u) - from)
				: values.of[at];
	return true;
}

/* Sizes that exist, and sizes that nearly fill what an inode or a block has left for attributes:
 * how much their names and heads take differs from file system to file system. */
bool nearby_attribute_size(const struct nearby *n, unsigned arg)
{
	enum { HEAD = 16, HEADS = 64 };
	static const uint64_t rooms[] = { 100, 256, 1024, TREE_BLOCK };
	const struct inode *inode = tree_inode(&n->state->tree, nearby_object(n, arg));
	struct values values = { .count = 0 };
	const struct xattr *xattr;
	uint64_t cookie = 0, used = 0;
	unsigned at;

	if (!inode)
		return false;
	while ((xattr = tree_next_xattr(inode, &cookie))) {
		uint64_t size = xattr->value_len;

		used += size + xattr->name_len + HEAD;
		values_add(&values, size, 0, UINT32_MAX);
		values_add(&values, size + 1, 0, UINT32_MAX);
		if (size)
			values_add(&values, size - 1, 0, UINT32_MAX);
	}
	for (unsigned i = 0; i < 2 * ARRAY_LEN(rooms); i++) {
		uint64_t room = rooms[i / 2], less = used + nearby_pick(n, i, HEADS);

		if (room > less)
			values_add(&values, room - less, 0, UINT32_MAX);
	}
	if (!extent_choose(n, arg, &values, &at))
		return false;
	n->call->arg[arg].num = values.of[at];
	return true;
}
