/* ext_inode.c -- inodes of ext2, ext3 and ext4, and how they say where their blocks are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/must.h"
#include "ondisk/ext.h"

enum {
	RUNS_MAX = 1 << 24,
	EXTENT_DEPTH_MAX = 5,
	EXTENT_LEN_WRITTEN_MAX = 32768, /* a greater length: that much is unwritten */
	DIRECT_POINTERS = 12,
};

/* As much of the end of a path as a label has room for. */
static void ext_file_label(struct ext_walk *w, struct ext_file *f)
{
	const char *path = w->paths[f->number];
	int room;

	room = (int)sizeof(f->label) - 1 -
	       snprintf(f->label, sizeof(f->label), "inode %u", f->number);
	if (!path || room < 8)
		return;
	if (strlen(path) + 2 <= (size_t)room)
		snprintf(f->label + strlen(f->label), room + 1, ", %s", path);
	else
		snprintf(f->label + strlen(f->label), room + 1, ", ...%s",
			 path + strlen(path) - (room - 5));
}

int ext_file_open(struct ext_walk *w, struct ext_file *ret, uint32_t number)
{
	struct ext_file f = { .number = number };
	const uint8_t *desc;
	uint64_t table;
	uint32_t group;

	if (!number || number > w->inode_count)
		return ext_damaged(w, "there is no inode %u", number);
	group = (number - 1) / w->inodes_per_group;
	desc = w->disk + w->descs[group];
	table = ONDISK_LE(desc, group_desc, bg_inode_table_lo);
	if (w->desc_size >= 64)
		table |= ONDISK_LE(desc, group_desc, bg_inode_table_hi) << 32;
	if (!ext_block(w, table))
		return -EUCLEAN;
	f.at = table * w->block_size +
	       (uint64_t)((number - 1) % w->inodes_per_group) * w->inode_size;
	f.inode = ext_bytes(w, f.at, w->inode_size);
	if (!f.inode)
		return -EUCLEAN;
	f.flags = ONDISK_LE(f.inode, inode, i_flags);
	f.mode = ONDISK_LE(f.inode, inode, i_mode);
	f.size = ONDISK_LE(f.inode, inode, i_size_lo) | ONDISK_LE(f.inode, inode, i_size_high)
								<< 32;
	ext_file_label(w, &f);
	*ret = f;
	return 0;
}

void ext_file_close(struct ext_file *f)
{
	free(f->runs);
	f->runs = NULL;
}

uint64_t ext_file_block(const struct ext_file *f, uint32_t logical)
{
	for (size_t i = 0; i < f->run_count; i++)
		if (logical - f->runs[i].logical < f->runs[i].len)
			return f->runs[i].physical + (logical - f->runs[i].logical);
	return 0;
}

static int ext_add_run(struct ext_walk *w, struct ext_file *f, uint32_t logical, uint64_t physical,
		       uint32_t len)
{
	struct ext_run *last = f->run_count ? &f->runs[f->run_count - 1] : NULL;

	if (physical >= w->block_count || len > w->block_count - physical)
		return ext_damaged(w, "blocks of inode %u lie beyond its end", f->number);
	if (last && last->logical + last->len == logical &&
	    last->physical + last->len == physical) {
		last->len += len;
		return 0;
	}
	if (f->run_count >= RUNS_MAX)
		return ext_damaged(w, "inode %u has too many extents", f->number);
	if (f->run_count == f->run_cap) {
		f->run_cap = f->run_cap ? f->run_cap * 2 : 8;
		f->runs = must_realloc(f->runs, f->run_cap * sizeof(*f->runs));
	}
	f->runs[f->run_count++] =
		(struct ext_run){ .physical = physical, .logical = logical, .len = len };
	return 0;
}

/* Extents */

static int ext_extent_node(struct ext_walk *w, struct ext_file *f, uint64_t at, uint32_t len,
			   unsigned level);

static int ext_extent_child(struct ext_walk *w, struct ext_file *f, const uint8_t *entry,
			    unsigned level)
{
	uint64_t block = ONDISK_LE(entry, extent_idx, ei_leaf_lo) |
			 ONDISK_LE(entry, extent_idx, ei_leaf_hi) << 32;
	const uint8_t *node = ext_new_block(w, block);
	uint64_t at = block * w->block_size;
	uint32_t tail;

	if (!node)
		return -EUCLEAN;
	tail = EXT_EXTENT_LEN * (1 + ONDISK_LE(node, extent_header, eh_max));
	if (w->ro_compat & EXT_RO_COMPAT_METADATA_CSUM && tail + 4 <= w->block_size)
		ext_add(w, extent_tail, at + tail, 4, "%s, node %llu", f->label,
			(unsigned long long)block);
	ext_cover_of_inode(w, f, EXT_SUM_EXTENTS, at);
	return ext_extent_node(w, f, at, w->block_size, level);
}

static int ext_extent_leaf(struct ext_walk *w, struct ext_file *f, const uint8_t *entry)
{
	uint32_t len = ONDISK_LE(entry, extent, ee_len);

	if (len > EXTENT_LEN_WRITTEN_MAX)
		len -= EXTENT_LEN_WRITTEN_MAX;
	return ext_add_run(w, f, ONDISK_LE(entry, extent, ee_block),
			   ONDISK_LE(entry, extent, ee_start_lo) |
				   ONDISK_LE(entry, extent, ee_start_hi) << 32,
			   len);
}

/* A node and all below it. level counts from the root. */
static int ext_extent_node(struct ext_walk *w, struct ext_file *f, uint64_t at, uint32_t len,
			   unsigned level)
{
	const uint8_t *node = w->disk + at;
	uint32_t entries = ONDISK_LE(node, extent_header, eh_entries);
	uint32_t depth = ONDISK_LE(node, extent_header, eh_depth);
	int status = 0;

	if (ONDISK_LE(node, extent_header, eh_magic) != EXT_EXTENT_MAGIC ||
	    (entries + 1) * EXT_EXTENT_LEN > len || depth + level > EXTENT_DEPTH_MAX)
		return ext_damaged(w, "an extent node of inode %u cannot be", f->number);
	ext_add(w, extent_header, at, EXT_EXTENT_LEN, "%s, level %u", f->label, level);
	for (uint32_t i = 0; i < entries && !status; i++) {
		uint32_t offset = (i + 1) * EXT_EXTENT_LEN;

		if (depth) {
			ext_add(w, extent_idx, at + offset, EXT_EXTENT_LEN, "%s, level %u [%u]",
				f->label, level, i);
			status = ext_extent_child(w, f, node + offset, level + 1);
		} else {
			ext_add(w, extent, at + offset, EXT_EXTENT_LEN, "%s, level %u [%u]",
				f->label, level, i);
			status = ext_extent_leaf(w, f, node + offset);
		}
	}
	return status;
}

/* Block pointers */

/* A block of pointers, from this logical block on, and all below it; level 1 has pointers to data.
 */
static int ext_indirect_block(struct ext_walk *w, struct ext_file *f, uint64_t block,
			      unsigned level, uint64_t logical)
{
	uint32_t count = w->block_size / 4, used = 0;
	const uint8_t *node = ext_new_block(w, block);
	uint64_t span = 1, at = block * w->block_size;
	int status = 0;

	if (!node)
		return -EUCLEAN;
	for (unsigned i = 1; i < level; i++)
		span *= count;
	for (uint32_t i = 0; i < count && !status; i++) {
		uint64_t pointer = ondisk_le(node + 4 * i, 4);

		if (!pointer)
			continue;
		used = i + 1;
		ext_add(w, indirect, at + 4 * i, 4, "%s, level %u [%u]", f->label, level, i);
		status = level > 1
			       ? ext_indirect_block(w, f, pointer, level - 1, logical + i * span)
			       : ext_add_run(w, f, logical + i, pointer, 1);
	}
	if (used < count)
		ext_add(w, indirect, at + 4 * used, 4, "%s, level %u [%u]", f->label, level, used);
	return status;
}

static int ext_pointers(struct ext_walk *w, struct ext_file *f)
{
	const uint8_t *pointers = f->inode + inode_block_i_block_0_AT;
	uint64_t count = w->block_size / 4, logical = DIRECT_POINTERS, span = count;
	int status = 0;

	ext_add(w, inode_block, f->at, inode_i_generation_AT, "%s", f->label);
	for (uint32_t i = 0; i < DIRECT_POINTERS && !status; i++) {
		uint64_t block = ondisk_le(pointers + 4 * i, 4);

		if (block)
			status = ext_add_run(w, f, i, block, 1);
	}
	for (unsigned level = 1; level <= 3 && !status; level++) {
		uint64_t block = ondisk_le(pointers + 4 * (DIRECT_POINTERS + level - 1), 4);

		if (block)
			status = ext_indirect_block(w, f, block, level, logical);
		logical += span;
		span *= count;
	}
	return status;
}

/* A symbolic link that lies in i_block. */
static bool ext_is_fast_symlink(const struct ext_file *f)
{
	return S_ISLNK(f->mode) && f->size < EXT_BLOCK_POINTERS_LEN &&
	       !(f->flags & (EXT_EXTENTS_FL | EXT_INLINE_DATA_FL | EXT_EA_INODE_FL));
}

bool ext_file_has_blocks(const struct ext_file *f)
{
	return !(f->flags & EXT_INLINE_DATA_FL) && !ext_is_fast_symlink(f) &&
	       (S_ISREG(f->mode) || S_ISDIR(f->mode) || S_ISLNK(f->mode) || !(f->mode & S_IFMT));
}

int ext_file_blocks(struct ext_walk *w, struct ext_file *f)
{
	if (!ext_file_has_blocks(f))
		return 0;
	if (f->flags & EXT_EXTENTS_FL)
		return ext_extent_node(w, f, f->at + inode_block_i_block_0_AT,
				       EXT_BLOCK_POINTERS_LEN, 0);
	return ext_pointers(w, f);
}

/* What i_block has in it that says nothing of blocks. */
static void ext_add_contents(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t at = f->at + inode_block_i_block_0_AT;
	uint32_t len = f->size < EXT_BLOCK_POINTERS_LEN ? f->size : EXT_BLOCK_POINTERS_LEN;

	if (S_ISCHR(f->mode) || S_ISBLK(f->mode))
		ext_add(w, inode_block, f->at, inode_block_i_block_2_AT, "%s", f->label);
	else if (ext_is_fast_symlink(f))
		ext_add(w, fast_symlink, at, len, "%s", f->label);
	else if (f->flags & EXT_INLINE_DATA_FL && !S_ISDIR(f->mode))
		ext_add(w, inline_data, at, EXT_BLOCK_POINTERS_LEN, "%s", f->label);
}

static int ext_slow_symlink(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t block = ext_file_block(f, 0);

	if (!ext_new_block(w, block))
		return -EUCLEAN;
	if (f->size > w->block_size)
		return ext_damaged(w, "the symbolic link in inode %u is too long", f->number);
	ext_add(w, slow_symlink, block * w->block_size, f->size, "%s", f->label);
	return 0;
}

static bool ext_is_one_of_super(const struct ext_walk *w, uint32_t number, unsigned at)
{
	return number == ondisk_le(w->super + at, 4);
}

static int ext_file_contents(struct ext_walk *w, const struct ext_file *f)
{
	if (w->compat & EXT_COMPAT_HAS_JOURNAL &&
	    ext_is_one_of_super(w, f->number, super_block_s_journal_inum_AT))
		return ext_journal_walk(w, f);
	if (ext_is_one_of_super(w, f->number, super_block_s_usr_quota_inum_AT) ||
	    ext_is_one_of_super(w, f->number, super_block_s_grp_quota_inum_AT) ||
	    ext_is_one_of_super(w, f->number, super_block_s_prj_quota_inum_AT))
		return ext_quota_walk(w, f);
	if (w->compat & EXT_COMPAT_ORPHAN_FILE &&
	    ext_is_one_of_super(w, f->number, super_block_s_orphan_file_inum_AT))
		return ext_orphans_walk(w, f);
	if (S_ISDIR(f->mode))
		return ext_dir_walk(w, f);
	if (S_ISLNK(f->mode) && f->run_count)
		return ext_slow_symlink(w, f);
	return 0;
}

/* The fields that this inode has. */
static uint32_t ext_inode_len(const struct ext_walk *w, const struct ext_file *f)
{
	uint32_t len;

	if (w->inode_size < EXT_INODE_OLD_LEN + inode_i_extra_isize_LEN)
		return EXT_INODE_OLD_LEN;
	len = EXT_INODE_OLD_LEN + ONDISK_LE(f->inode, inode, i_extra_isize);
	if (len < EXT_INODE_OLD_LEN + inode_i_extra_isize_LEN)
		len = EXT_INODE_OLD_LEN + inode_i_extra_isize_LEN;
	return len < w->inode_size ? len : w->inode_size;
}

int ext_inode_walk(struct ext_walk *w, uint32_t number)
{
	struct ext_file f;
	int status = ext_file_open(w, &f, number);

	if (status)
		return status;
	ext_add(w, inode, f.at, ext_inode_len(w, &f), "%s", f.label);
	ext_cover(w, (struct ondisk_cover){ .at = f.at,
					    .len = w->inode_size,
					    .kind = EXT_SUM_INODE,
					    .of = f.at,
					    .number = number });
	ext_add_contents(w, &f);
	status = ext_file_blocks(w, &f);
	if (!status)
		status = ext_file_contents(w, &f);
	if (!status)
		status = ext_xattrs_walk(w, &f);
	ext_file_close(&f);
	return status;
}
