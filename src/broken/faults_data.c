/* faults_data.c -- RefFS broken: opening, writing, truncating, and what remounting keeps. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/mman.h>

#include "base/must.h"
#include "broken/faults.h"

enum { SECTOR = 512 };

static uint64_t size_of(const struct faulty *f, uint64_t ino)
{
	return fault_is_file(f, ino) ? fault_inode(f, ino)->size : 0;
}

void fault_open_excl(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_OPEN_FLAGS, O_EXCL);

	fault_pass(f, &changed, ret);
}

void fault_open_trunc(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_OPEN_FLAGS, O_TRUNC);

	fault_pass(f, &changed, ret);
}

void fault_open_append(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_OPEN_FLAGS, O_APPEND);

	fault_pass(f, &changed, ret);
}

/* The file that a call to open made, 0 if it made none. */
static uint64_t pass_open(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t before = call_is(c, OP_open) ? call_names(f, c, 0, true) : 0;

	fault_pass(f, c, ret);
	return !call_is(c, OP_open) || before || ret->error ? 0 : call_names(f, c, 0, true);
}

void fault_open_mode(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t made = pass_open(f, c, ret);

	if (!made)
		return;
	fault_edit(f, made)->mode &= ~(uint32_t)S_IRGRP;
	fault_settle(f);
}

void fault_open_group(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t made = pass_open(f, c, ret);

	if (!made)
		return;
	fault_edit(f, made)->gid = state_process(f->state, c->pid)->gid;
	fault_settle(f);
}

void fault_open_dir(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_confuse(f, c, ret, OP_open, EISDIR, EACCES);
}

/* A write that succeeded, and what it did. */
struct written {
	uint64_t ino;         /* 0: nothing was written */
	uint64_t size_before; /* of the file */
	uint64_t from, to;
};

/* Where the bytes went is seen from the offset, or the file's end where they were appended. */
static struct written pass_write(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_write) ? call_subject(f, c) : 0;
	struct written w = { .size_before = size_of(f, ino) };
	const struct open_file *file = state_file(f->state, c->pid, call_num(c, KIND_FD));
	int64_t flags = call_num(c, KIND_OPEN_FLAGS);
	bool has_offset = c->op != OP_write && c->op != OP_write_all;

	if (flags & O_TRUNC)
		w.size_before = 0;
	w.from = (uint64_t)(has_offset || !file ? call_num(c, KIND_OFFSET) : file->offset);
	if ((flags | (file ? file->flags : 0)) & O_APPEND)
		w.from = w.size_before;
	fault_pass(f, c, ret);
	if (!call_is(c, OP_write) || ret->error || ret->num <= 0)
		return w;
	w.ino = call_subject(f, c);
	if (!fault_is_file(f, w.ino))
		w.ino = 0;
	w.to = w.from + (uint64_t)ret->num;
	return w;
}

static void fault_resize(struct faulty *f, uint64_t ino, uint64_t size)
{
	tree_truncate(faulty_tree(f), ino, size);
	fault_settle(f);
}

/* Bytes [from, to) become old ones, as from a block that was used before. */
static void make_stale(struct faulty *f, uint64_t ino, uint64_t from, uint64_t to)
{
	static const char old[] = "stale bytes ";
	uint64_t size = size_of(f, ino), end = from - from % TREE_BLOCK + TREE_BLOCK;
	char bytes[TREE_BLOCK];

	if (to > end)
		to = end;
	if (to > size)
		to = size;
	if (from >= to)
		return;
	for (uint64_t i = 0; i < to - from; i++)
		bytes[i] = old[i % (sizeof(old) - 1)];
	tree_write(faulty_tree(f), ino, from, bytes, to - from);
	fault_settle(f);
}

void fault_write_short(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);

	if (w.ino && w.to > w.size_before)
		fault_resize(f, w.ino, w.to - 1);
}

void fault_write_gap(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);

	if (w.ino && w.from > w.size_before)
		make_stale(f, w.ino, w.size_before, w.from);
}

void fault_write_size(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);

	if (w.ino && w.to > w.size_before && w.to % TREE_BLOCK == 0)
		fault_resize(f, w.ino, w.to + SECTOR);
}

void fault_write_block(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);
	uint64_t boundary = w.from - w.from % TREE_BLOCK + TREE_BLOCK;

	if (!w.ino || w.to <= boundary)
		return;
	tree_zero(faulty_tree(f), w.ino, boundary, w.to - boundary, true);
	fault_settle(f);
}

void fault_write_over(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);

	if (w.ino && w.to < w.size_before)
		fault_resize(f, w.ino, w.to);
}

void fault_truncate_stale(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_truncate) ? call_subject(f, c) : 0, before = size_of(f, ino);

	fault_pass(f, c, ret);
	if (!ino || ret->error)
		return;
	if (size_of(f, ino) < before)
		*f->memory = (struct fault_memory){ ino, size_of(f, ino), before };
	else if (size_of(f, ino) > before && f->memory->ino == ino && f->memory->from == before)
		make_stale(f, ino, before, f->memory->to);
}

void fault_truncate_same(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_truncate) ? call_subject(f, c) : 0, before = size_of(f, ino);

	fault_pass(f, c, ret);
	if (ino && !ret->error && before && size_of(f, ino) == before)
		ret->error = EINVAL;
}

void fault_truncate_grow(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_truncate) ? call_subject(f, c) : 0, before = size_of(f, ino);

	fault_pass(f, c, ret);
	if (ino && !ret->error && before < TREE_BLOCK && size_of(f, ino) > TREE_BLOCK)
		fault_resize(f, ino, TREE_BLOCK);
}

void fault_truncate_zero(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_truncate) ? call_subject(f, c) : 0, before = size_of(f, ino);

	fault_pass(f, c, ret);
	if (ino && !ret->error && before && !size_of(f, ino))
		fault_resize(f, ino, 1);
}

void fault_truncate_remount(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_truncate) ? call_subject(f, c) : 0, before = size_of(f, ino);

	fault_pass(f, c, ret);
	if (ret->error)
		return;
	if (ino && size_of(f, ino) < before)
		*f->memory = (struct fault_memory){ ino, size_of(f, ino), before };
	if (c->op == OP_remount && fault_is_file(f, f->memory->ino) &&
	    size_of(f, f->memory->ino) == f->memory->from)
		fault_resize(f, f->memory->ino, f->memory->to);
}

void fault_fallocate_keep(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = call_without(c, KIND_FALLOC_MODE, FALLOC_FL_KEEP_SIZE);

	/* Together with a hole it is required. */
	fault_pass(f, call_num(c, KIND_FALLOC_MODE) == FALLOC_FL_KEEP_SIZE ? &changed : c, ret);
}

void fault_fallocate_grow(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_fallocate) ? call_subject(f, c) : 0, before = size_of(f, ino);

	fault_pass(f, c, ret);
	if (ino && !ret->error && !call_num(c, KIND_FALLOC_MODE) && size_of(f, ino) > before)
		fault_resize(f, ino, before);
}

/* Clears bytes of the file a successful fallocate of this mode acted on. */
static void clear_after(struct faulty *f, const struct call *c, struct outcome *ret, int64_t mode,
			int64_t offset, uint64_t len)
{
	uint64_t ino = call_is(c, OP_fallocate) ? call_subject(f, c) : 0;

	fault_pass(f, c, ret);
	if (!ino || ret->error || call_num(c, KIND_FALLOC_MODE) != mode ||
	    (uint64_t)offset + len > size_of(f, ino))
		return;
	tree_zero(faulty_tree(f), ino, (uint64_t)offset, len, true);
	fault_settle(f);
}

void fault_fallocate_data(struct faulty *f, const struct call *c, struct outcome *ret)
{
	clear_after(f, c, ret, 0, call_num(c, KIND_OFFSET), 1);
}

void fault_punch_more(struct faulty *f, const struct call *c, struct outcome *ret)
{
	clear_after(f, c, ret, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE,
		    call_num(c, KIND_OFFSET) + call_num(c, KIND_LENGTH), 1);
}

void fault_zero_less(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t ino = call_is(c, OP_fallocate) ? call_subject(f, c) : 0;
	int64_t offset = call_num(c, KIND_OFFSET);
	char first = 0;

	if (fault_is_file(f, ino))
		tree_read(faulty_tree(f), ino, (uint64_t)offset, &first, 1);
	fault_pass(f, c, ret);
	if (!ino || ret->error || !first || !(call_num(c, KIND_FALLOC_MODE) & FALLOC_FL_ZERO_RANGE))
		return;
	tree_write(faulty_tree(f), ino, (uint64_t)offset, &first, 1);
	fault_settle(f);
}

void fault_read_more(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (!call_is(c, OP_read) || ret->error || (int64_t)ret->len >= call_num(c, KIND_COUNT))
		return;
	buf_clear(&f->bytes);
	buf_add(&f->bytes, ret->bytes, ret->len);
	buf_addch(&f->bytes, 'x');
	ret->bytes = f->bytes.data;
	ret->len = f->bytes.len;
	ret->num++;
}

/* What the memory holds is on its way to the disk until something syncs. */
static bool fault_syncs(const struct call *c)
{
	return op_table[c->op].traits & TRAIT_SYNC;
}

void fault_remount_unsynced(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);

	if (w.ino && w.to > w.size_before)
		*f->memory = (struct fault_memory){ w.ino, w.size_before, w.to };
	if (ret->error)
		return;
	if (fault_syncs(c))
		f->memory->ino = 0;
	if (c->op == OP_remount && f->memory->ino && size_of(f, f->memory->ino) == f->memory->to)
		fault_resize(f, f->memory->ino, f->memory->from);
}

void fault_remount_swap(struct faulty *f, const struct call *c, struct outcome *ret)
{
	uint64_t a = fault_next_file(f, 0), b = a ? fault_next_file(f, a) : 0;
	char of_a, of_b;

	fault_pass(f, c, ret);
	if (c->op != OP_remount || ret->error || !size_of(f, a) || !size_of(f, b))
		return;
	tree_read(faulty_tree(f), a, 0, &of_a, 1);
	tree_read(faulty_tree(f), b, 0, &of_b, 1);
	tree_write(faulty_tree(f), a, 0, &of_b, 1);
	tree_write(faulty_tree(f), b, 0, &of_a, 1);
	fault_settle(f);
}

void fault_remount_mode(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (c->op != OP_remount || ret->error)
		return;
	for (uint64_t ino = 0; (ino = fault_next_file(f, ino));)
		fault_edit(f, ino)->mode &= ~(uint32_t)S_IRWXO;
	fault_settle(f);
}

void fault_remount_xattr(struct faulty *f, const struct call *c, struct outcome *ret)
{
	fault_pass(f, c, ret);
	if (c->op != OP_remount || ret->error)
		return;
	for (uint64_t ino = TREE_ROOT; ino < f->state->tree.next_ino; ino++)
		if (fault_inode(f, ino))
			fault_strip(f, ino);
	fault_settle(f);
}

void fault_drop_caches_size(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct written w = pass_write(f, c, ret);
	uint64_t size;

	if (w.ino)
		f->memory->ino = w.ino;
	size = size_of(f, f->memory->ino);
	if (c->op == OP_drop_caches && !ret->error && size)
		fault_resize(f, f->memory->ino, (size + SECTOR - 1) / SECTOR * SECTOR);
}

void fault_map_private(struct faulty *f, const struct call *c, struct outcome *ret)
{
	struct call changed = *c;

	if (c->op == OP_map_write_file && c->map_write_file.flags.num == MAP_PRIVATE)
		changed.map_write_file.flags.num = MAP_SHARED;
	fault_pass(f, &changed, ret);
}

void fault_map_lost(struct faulty *f, const struct call *c, struct outcome *ret)
{
	int64_t offset = call_num(c, KIND_OFFSET), count = call_num(c, KIND_COUNT);

	fault_pass_undone(f, c, ret,
			  call_is(c, OP_map_write) && offset % TREE_BLOCK + count > TREE_BLOCK);
}

/* Remembers what a store left behind the end of a file; it shows where the file grows. */
void fault_map_tail(struct faulty *f, const struct call *c, struct outcome *ret)
{
	bool stores = c->op == OP_map_write_file && c->map_write_file.flags.num == MAP_SHARED;
	struct fault_memory *memory = f->memory;
	uint64_t size, end;

	fault_pass(f, c, ret);
	size = size_of(f, memory->ino);
	if (memory->ino && size > memory->from) {
		end = size < memory->to ? size : memory->to;
		for (uint64_t at = memory->from; at < end; at++)
			tree_write(faulty_tree(f), memory->ino, at, "t", 1);
		fault_settle(f);
	}
	if (size != memory->from)
		*memory = (struct fault_memory){ 0 };
	if (!stores || ret->error)
		return;
	size = size_of(f, call_subject(f, c));
	end = (uint64_t)(c->map_write_file.offset.num + ret->num);
	if (end > size)
		*memory = (struct fault_memory){ call_subject(f, c), size, end };
}
