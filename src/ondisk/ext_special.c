/* ext_special.c -- quota files and the orphan file of ext4. */
#include <errno.h>
#include <stdlib.h>

#include "base/must.h"
#include "ondisk/ext.h"

enum {
	QUOTA_BLOCK = 1024,
	QUOTA_HEADER_LEN = 8,
	QUOTA_INFO_LEN = 24,
	QUOTA_LEVELS = 4, /* of pointers: 256 of them for each byte of an id */
	QUOTA_ROOT = 1,
	QUOTA_LEAF_HEADER_LEN = 16,
	QUOTA_RECORD_LEN = 72,
	QUOTA_LEN_MAX = 1 << 30,
	ORPHAN_TAIL_LEN = 8,
	ORPHAN_BLOCKS_MAX = 1 << 16,
};

/* Where a quota block is on the disk: 0, nowhere. */
static uint64_t ext_quota_at(struct ext_walk *w, const struct ext_file *f, uint32_t number)
{
	uint64_t offset = (uint64_t)number * QUOTA_BLOCK;
	uint64_t block = offset < f->size ? ext_file_block(f, offset / w->block_size) : 0;

	if (!block || !ext_block(w, block))
		return 0;
	return block * w->block_size + offset % w->block_size;
}

static void ext_quota_leaf(struct ext_walk *w, const struct ext_file *f, uint64_t at)
{
	ext_add(w, qt_disk_dqdbheader, at, QUOTA_LEAF_HEADER_LEN, "%s", f->label);
	for (uint32_t i = QUOTA_LEAF_HEADER_LEN; i + QUOTA_RECORD_LEN <= QUOTA_BLOCK;
	     i += QUOTA_RECORD_LEN) {
		const uint8_t *record = w->disk + at + i;
		bool used = false;

		for (int j = 0; j < QUOTA_RECORD_LEN; j++)
			used |= record[j];
		if (used)
			ext_add(w, v2r1_disk_dqblk, at + i, QUOTA_RECORD_LEN, "%s, id %u", f->label,
				(unsigned)ONDISK_LE(record, v2r1_disk_dqblk, dqb_id));
	}
}

/* A block of the tree, and all below it. The records of several ids may lie in one leaf, which many
 * pointers then lead to. */
static int ext_quota_tree(struct ext_walk *w, const struct ext_file *f, uint32_t number,
			  unsigned levels, uint8_t *seen)
{
	uint64_t at = ext_quota_at(w, f, number);
	bool again;
	int status = 0;

	if (!at)
		return ext_damaged(w, "the quota file %u cannot be", f->number);
	again = seen[number / 8] & 1 << number % 8;
	seen[number / 8] |= 1 << number % 8;
	if (again)
		return levels ? ext_damaged(w, "the quota file %u has a circle", f->number) : 0;
	if (!levels) {
		ext_quota_leaf(w, f, at);
		return 0;
	}
	for (uint32_t i = 0; i < QUOTA_BLOCK / 4 && !status; i++) {
		uint32_t below = ondisk_le(w->disk + at + 4 * i, 4);

		if (!below)
			continue;
		ext_add(w, qt_tree, at + 4 * i, 4, "%s, block %u [%u]", f->label, number, i);
		status = ext_quota_tree(w, f, below, levels - 1, seen);
	}
	return status;
}

int ext_quota_walk(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t at = ext_quota_at(w, f, 0);
	uint8_t *seen;
	int status;

	if (!at || f->size > QUOTA_LEN_MAX)
		return ext_damaged(w, "the quota file %u has no header", f->number);
	ext_add(w, v2_disk_dqheader, at, QUOTA_HEADER_LEN, "%s", f->label);
	ext_add(w, v2_disk_dqinfo, at + QUOTA_HEADER_LEN, QUOTA_INFO_LEN, "%s", f->label);
	seen = must_alloc(f->size / QUOTA_BLOCK / 8 + 1);
	status = ext_quota_tree(w, f, QUOTA_ROOT, QUOTA_LEVELS, seen);
	free(seen);
	return status;
}

static int ext_orphan_block(struct ext_walk *w, const struct ext_file *f, uint64_t block)
{
	uint64_t at = block * w->block_size;
	uint32_t count = (w->block_size - ORPHAN_TAIL_LEN) / 4;
	bool next = true;

	if (!ext_new_block(w, block))
		return -EUCLEAN;
	for (uint32_t i = 0; i < count; i++) {
		bool used = ondisk_le(w->disk + at + 4 * i, 4);

		if (used || next)
			ext_add(w, orphan_entry, at + 4 * i, 4, "%s, [%u]", f->label, i);
		next &= used;
	}
	ext_add(w, orphan_block_tail, at + w->block_size - ORPHAN_TAIL_LEN, ORPHAN_TAIL_LEN, "%s",
		f->label);
	ext_cover_of_inode(w, f, EXT_SUM_ORPHANS, at);
	return 0;
}

int ext_orphans_walk(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t blocks = f->size / w->block_size;
	int status = 0;

	if (blocks > ORPHAN_BLOCKS_MAX)
		return ext_damaged(w, "the orphan file is too long");
	for (uint32_t i = 0; i < blocks && !status; i++)
		status = ext_orphan_block(w, f, ext_file_block(f, i));
	return status;
}
