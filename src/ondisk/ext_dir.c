/* ext_dir.c -- directories of ext2, ext3 and ext4: entries in blocks or inline, and htree nodes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "ondisk/ext.h"

enum {
	ENTRY_LEN = 8, /* without its name */
	TAIL_LEN = 12,
	TAIL_TYPE = 0xde,
	DX_ROOT_INFO = 0x18, /* behind "." and ".." */
	DX_NODE_ENTRIES = 8, /* behind an empty entry as long as the block */
	DX_ENTRY_LEN = 8,
	DX_LEVELS_MAX = 3,
	BLOCKS_MAX = 1 << 24,
	INLINE_PARENT_LEN = 4,
};

static bool ext_is_dots(const uint8_t *name, size_t len)
{
	return (len == 1 || len == 2) && !memcmp(name, "..", len);
}

static uint32_t ext_rec_len(const struct ext_walk *w, const uint8_t *entry)
{
	uint32_t len = ONDISK_LE(entry, dir_entry, rec_len);

	return w->block_size >= 65536 && (len == 0 || len == 65535) ? 65536 : len;
}

static bool ext_is_tail(const uint8_t *entry)
{
	return !ONDISK_LE(entry, dir_entry_tail, det_reserved_zero1) &&
	       ONDISK_LE(entry, dir_entry_tail, det_rec_len) == TAIL_LEN &&
	       !ONDISK_LE(entry, dir_entry_tail, det_reserved_zero2) &&
	       ONDISK_LE(entry, dir_entry_tail, det_reserved_ft) == TAIL_TYPE;
}

static void ext_dir_entry(struct ext_walk *w, const struct ext_file *f, uint64_t at,
			  uint32_t rec_len)
{
	const uint8_t *e = w->disk + at, *name = e + ENTRY_LEN;
	uint32_t len = ONDISK_LE(e, dir_entry, name_len), number = ONDISK_LE(e, dir_entry, inode);

	if (len > rec_len - ENTRY_LEN)
		len = 0; /* of an unused entry, whose name may be whatever was there */
	ext_add(w, dir_entry, at, ENTRY_LEN + len, "%s, \"%.*s\"", f->label, (int)len,
		(const char *)name);
	if (number && !ext_is_dots(name, len))
		ext_name_entry(w, f, number, name, len);
}

/* Entries that fill `len` bytes, with a tail at the end of a block. */
static int ext_dir_entries(struct ext_walk *w, const struct ext_file *f, uint64_t at, uint32_t len)
{
	uint32_t rec_len;

	for (uint32_t offset = 0; offset < len; offset += rec_len) {
		const uint8_t *e = w->disk + at + offset;

		rec_len = len - offset >= ENTRY_LEN ? ext_rec_len(w, e) : 0;
		if (rec_len < ENTRY_LEN || rec_len > len - offset)
			return ext_damaged(w, "an entry of directory %u cannot be", f->number);
		if (len - offset == TAIL_LEN && ext_is_tail(e))
			ext_add(w, dir_entry_tail, at + offset, TAIL_LEN, "%s", f->label);
		else
			ext_dir_entry(w, f, at + offset, rec_len);
	}
	return 0;
}

static int ext_dir_leaf(struct ext_walk *w, const struct ext_file *f, uint64_t block)
{
	uint64_t at = block * w->block_size;

	if (!ext_new_block(w, block))
		return -EUCLEAN;
	if (ext_is_tail(w->disk + at + w->block_size - TAIL_LEN))
		ext_cover_of_inode(w, f, EXT_SUM_DIR, at);
	return ext_dir_entries(w, f, at, w->block_size);
}

/* htree */

/* The entries of a node that begin here, in the block at `at`: which blocks are below it. */
static int ext_dx_entries(struct ext_walk *w, const struct ext_file *f, uint64_t at, uint32_t begin)
{
	const uint8_t *first = w->disk + at + begin;
	uint32_t limit = ONDISK_LE(first, dx_countlimit, limit);
	uint32_t count = ONDISK_LE(first, dx_countlimit, count);

	if (!count || count > limit || begin + limit * DX_ENTRY_LEN > w->block_size)
		return ext_damaged(w, "an htree node of directory %u cannot be", f->number);
	ext_add(w, dx_countlimit, at + begin, DX_ENTRY_LEN, "%s", f->label);
	for (uint32_t i = 1; i < count; i++)
		ext_add(w, dx_entry, at + begin + i * DX_ENTRY_LEN, DX_ENTRY_LEN, "%s, [%u]",
			f->label, i);
	if (w->ro_compat & EXT_RO_COMPAT_METADATA_CSUM &&
	    begin + (limit + 1) * DX_ENTRY_LEN <= w->block_size)
		ext_add(w, dx_tail, at + begin + limit * DX_ENTRY_LEN, DX_ENTRY_LEN, "%s",
			f->label);
	ext_cover_of_inode(w, f, EXT_SUM_DX, at);
	return 0;
}

/* A node and those below it, of which there are `levels` levels besides the leaves. Blocks of the
 * file that are nodes get their bit in `nodes`. */
static int ext_dx_node(struct ext_walk *w, const struct ext_file *f, uint32_t logical,
		       unsigned levels, uint8_t *nodes, uint32_t blocks)
{
	uint64_t block = ext_file_block(f, logical), at = block * w->block_size;
	const uint8_t *p = ext_new_block(w, block);
	uint32_t begin = DX_NODE_ENTRIES;
	int status;

	if (!p || logical >= blocks)
		return ext_damaged(w, "the htree of directory %u cannot be", f->number);
	nodes[logical / 8] |= 1 << logical % 8;
	ext_dir_entry(w, f, at, w->block_size);
	if (!logical) {
		ext_dir_entry(w, f, at + 12, w->block_size - 12);
		ext_add(w, dx_root_info, at + DX_ROOT_INFO, 8, "%s", f->label);
		begin = DX_ROOT_INFO + ONDISK_LE(p + DX_ROOT_INFO, dx_root_info, info_length);
		levels = ONDISK_LE(p + DX_ROOT_INFO, dx_root_info, indirect_levels);
	}
	if (levels > DX_LEVELS_MAX)
		return ext_damaged(w, "the htree of directory %u is too high", f->number);
	status = ext_dx_entries(w, f, at, begin);
	for (uint32_t i = 0; levels && !status && i < ONDISK_LE(p + begin, dx_countlimit, count);
	     i++)
		status = ext_dx_node(w, f, ONDISK_LE(p + begin + i * DX_ENTRY_LEN, dx_entry, block),
				     levels - 1, nodes, blocks);
	return status;
}

static int ext_dir_blocks(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t blocks = f->size / w->block_size;
	uint8_t *nodes;
	int status = 0;

	if (blocks > BLOCKS_MAX)
		return ext_damaged(w, "directory %u is too long", f->number);
	nodes = must_alloc(blocks / 8 + 1);
	if (f->flags & EXT_INDEX_FL && w->compat & EXT_COMPAT_DIR_INDEX)
		status = ext_dx_node(w, f, 0, 0, nodes, blocks);
	for (uint32_t i = 0; i < blocks && !status; i++) {
		uint64_t block = ext_file_block(f, i);

		if (block && !(nodes[i / 8] & 1 << i % 8))
			status = ext_dir_leaf(w, f, block);
	}
	free(nodes);
	return status;
}

static int ext_dir_inline(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t at = f->at + inode_block_i_block_0_AT, rest;
	uint32_t len;
	int status;

	ext_add(w, inline_dir, at, INLINE_PARENT_LEN, "%s", f->label);
	status = ext_dir_entries(w, f, at + INLINE_PARENT_LEN,
				 EXT_BLOCK_POINTERS_LEN - INLINE_PARENT_LEN);
	len = ext_inline_rest(w, f, &rest);
	if (!status && len)
		status = ext_dir_entries(w, f, rest, len);
	return status;
}

int ext_dir_walk(struct ext_walk *w, const struct ext_file *f)
{
	return f->flags & EXT_INLINE_DATA_FL ? ext_dir_inline(w, f) : ext_dir_blocks(w, f);
}
