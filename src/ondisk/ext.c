/* ext.c -- ext2, ext3 and ext4: superblocks, groups and their bitmaps; the walk as a whole.
 *
 * Directories are walked first, without adding anything, so that the second walk, over all inodes
 * in use, can call them by their names. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/ext.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	ROOT = 2,
	GROUPS_MAX = 1 << 20,
	INODES_MAX = 1 << 26,
	ORPHANS_MAX = 1 << 16,
	PATH_LEN_MAX = 1024, /* of which labels show the end */
};

int ext_damaged(struct ext_walk *w, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return err_set(w->err, EUCLEAN, "the disk is damaged: %s", text);
}

const uint8_t *ext_bytes(struct ext_walk *w, uint64_t at, uint64_t len)
{
	if (at <= w->m->disk_size && len <= w->m->disk_size - at)
		return w->disk + at;
	ext_damaged(w, "%llu bytes at %llu lie beyond its end", (unsigned long long)len,
		    (unsigned long long)at);
	return NULL;
}

const uint8_t *ext_block(struct ext_walk *w, uint64_t block)
{
	if (block && block < w->block_count)
		return ext_bytes(w, block * w->block_size, w->block_size);
	ext_damaged(w, "there is no block %llu", (unsigned long long)block);
	return NULL;
}

const uint8_t *ext_new_block(struct ext_walk *w, uint64_t block)
{
	const uint8_t *p = ext_block(w, block);

	if (p && w->seen[block / 8] & 1 << block % 8) {
		ext_damaged(w, "block %llu is used twice", (unsigned long long)block);
		return NULL;
	}
	if (p)
		w->seen[block / 8] |= 1 << block % 8;
	return p;
}

void ext_cover(struct ext_walk *w, struct ondisk_cover cover)
{
	if (!w->quiet)
		ondisk_cover(w->m, cover);
}

void ext_cover_of_inode(struct ext_walk *w, const struct ext_file *f, uint32_t kind, uint64_t at)
{
	struct ondisk_cover cover = {
		.at = at,
		.len = w->block_size,
		.kind = kind,
		.of = at,
		.with = f->at,
		.number = f->number,
	};

	ext_cover(w, cover);
	cover.at = f->at + inode_i_generation_AT;
	cover.len = inode_i_generation_LEN;
	ext_cover(w, cover);
}

/* The superblock */

static bool ext_recognises(const uint8_t *disk, uint64_t size)
{
	return size >= EXT_SUPER_AT + EXT_SUPER_LEN &&
	       ONDISK_LE(disk + EXT_SUPER_AT, super_block, s_magic) == EXT_MAGIC;
}

static int ext_read_super(struct ext_walk *w)
{
	const uint8_t *s = w->super = w->disk + EXT_SUPER_AT;
	uint32_t log_block_size = ONDISK_LE(s, super_block, s_log_block_size);
	bool dynamic = ONDISK_LE(s, super_block, s_rev_level) > 0;
	uint64_t groups;

	w->compat = ONDISK_LE(s, super_block, s_feature_compat);
	w->incompat = ONDISK_LE(s, super_block, s_feature_incompat);
	w->ro_compat = ONDISK_LE(s, super_block, s_feature_ro_compat);
	if (w->incompat & EXT_INCOMPAT_JOURNAL_DEV)
		return err_set(w->err, ENOTSUP, "a disk that is only a journal is not described");
	if (log_block_size > 6)
		return ext_damaged(w, "s_log_block_size is %u", log_block_size);
	w->m->block_size = w->block_size = 1024U << log_block_size;
	w->first_data_block = ONDISK_LE(s, super_block, s_first_data_block);
	w->blocks_per_group = ONDISK_LE(s, super_block, s_blocks_per_group);
	w->inodes_per_group = ONDISK_LE(s, super_block, s_inodes_per_group);
	w->inode_count = ONDISK_LE(s, super_block, s_inodes_count);
	w->inode_size = dynamic ? ONDISK_LE(s, super_block, s_inode_size) : EXT_INODE_OLD_LEN;
	w->desc_size =
		w->incompat & EXT_INCOMPAT_64BIT ? ONDISK_LE(s, super_block, s_desc_size) : 32;
	w->block_count = ONDISK_LE(s, super_block, s_blocks_count_lo);
	if (w->incompat & EXT_INCOMPAT_64BIT)
		w->block_count |= ONDISK_LE(s, super_block, s_blocks_count_hi) << 32;
	if (w->block_count > w->m->disk_size / w->block_size)
		return ext_damaged(w, "it ends before its last block");
	if (!w->blocks_per_group || !w->inodes_per_group ||
	    w->inodes_per_group > 8 * w->block_size || w->first_data_block >= w->block_count)
		return ext_damaged(w, "the sizes of its groups cannot be");
	if (w->inode_size < EXT_INODE_OLD_LEN || w->inode_size > w->block_size ||
	    w->desc_size < 32 || w->desc_size > w->block_size)
		return ext_damaged(w, "s_inode_size or s_desc_size cannot be");
	groups = (w->block_count - w->first_data_block + w->blocks_per_group - 1) /
		 w->blocks_per_group;
	if (groups > GROUPS_MAX || w->inode_count > INODES_MAX ||
	    w->inode_count > groups * w->inodes_per_group)
		return err_set(w->err, EFBIG, "the disk has too many groups or inodes");
	w->group_count = groups;
	return 0;
}

/* What every checksum depends on: the UUID it begins with, or the seed, and the features that say
 * which checksums there are. */
static void ext_cover_seeds(struct ext_walk *w)
{
	static const struct {
		uint16_t at, len;
	} seeds[] = {
		{ super_block_s_clusters_per_group_AT, 8 }, /* and s_inodes_per_group */
		{ super_block_s_feature_incompat_AT, 8 },   /* and s_feature_ro_compat */
		{ super_block_s_uuid_AT, super_block_s_uuid_LEN },
		{ super_block_s_checksum_seed_AT, super_block_s_checksum_seed_LEN },
	};

	for (size_t i = 0; i < ARRAY_LEN(seeds); i++)
		ext_cover(w, (struct ondisk_cover){ .at = EXT_SUPER_AT + seeds[i].at,
						    .len = seeds[i].len,
						    .kind = ONDISK_ALL });
}

static void ext_add_super(struct ext_walk *w, uint64_t at, uint32_t group)
{
	if (group)
		ext_add(w, super_block, at, EXT_SUPER_LEN, "backup in group %u", group);
	else
		ext_add(w, super_block, at, EXT_SUPER_LEN, "primary");
	ext_cover(w, (struct ondisk_cover){
			     .at = at, .len = EXT_SUPER_LEN, .kind = EXT_SUM_SUPER, .of = at });
}

/* Groups */

uint64_t ext_group_first(const struct ext_walk *w, uint32_t group)
{
	return w->first_data_block + (uint64_t)group * w->blocks_per_group;
}

static bool ext_is_power(uint32_t number, uint32_t base)
{
	while (number > 1 && number % base == 0)
		number /= base;
	return number == 1;
}

/* Has the group a superblock, or a backup of it? */
bool ext_group_has_super(const struct ext_walk *w, uint32_t group)
{
	if (!group)
		return true;
	if (w->compat & EXT_COMPAT_SPARSE_SUPER2)
		return group == ONDISK_LE(w->super, super_block, s_backup_bgs_0) ||
		       group == ONDISK_LE(w->super, super_block, s_backup_bgs_1);
	if (!(w->ro_compat & EXT_RO_COMPAT_SPARSE_SUPER) || group == 1)
		return true;
	return ext_is_power(group, 3) || ext_is_power(group, 5) || ext_is_power(group, 7);
}

/* Where the superblock of a group is, with its backup of the descriptors behind. */
uint64_t ext_group_super_block(const struct ext_walk *w, uint32_t group)
{
	return group ? ext_group_first(w, group) : EXT_SUPER_AT / w->block_size;
}

static bool ext_group_is_meta(const struct ext_walk *w, uint32_t group)
{
	uint32_t per_block = w->block_size / w->desc_size;

	return w->incompat & EXT_INCOMPAT_META_BG &&
	       group / per_block >= ONDISK_LE(w->super, super_block, s_first_meta_bg);
}

/* With meta_bg, the block of descriptors in a group; 0: it has none. */
uint64_t ext_group_meta_block(const struct ext_walk *w, uint32_t group)
{
	uint32_t per_block = w->block_size / w->desc_size, place = group % per_block;

	if (!ext_group_is_meta(w, group) || (place > 1 && place != per_block - 1))
		return 0;
	if (ext_group_has_super(w, group))
		return ext_group_super_block(w, group) + 1;
	return ext_group_first(w, group);
}

static int ext_add_desc(struct ext_walk *w, uint64_t at, uint32_t group, uint32_t holder)
{
	if (!ext_bytes(w, at, w->desc_size))
		return -EUCLEAN;
	if (holder == UINT32_MAX)
		ext_add(w, group_desc, at, w->desc_size, "group %u", group);
	else
		ext_add(w, group_desc, at, w->desc_size, "group %u, backup in group %u", group,
			holder);
	ext_cover(w, (struct ondisk_cover){ .at = at,
					    .len = w->desc_size,
					    .kind = EXT_SUM_GROUP,
					    .of = at,
					    .number = group });
	if (holder == UINT32_MAX)
		w->descs[group] = at;
	return 0;
}

/* Descriptors of the groups from `from` on, as many as lie from this block on. */
static int ext_add_descs(struct ext_walk *w, uint64_t block, uint32_t from, uint32_t count,
			 uint32_t holder)
{
	uint32_t per_block = w->block_size / w->desc_size;
	int status = 0;

	for (uint32_t i = 0; i < count && from + i < w->group_count && !status; i++)
		status = ext_add_desc(w,
				      (block + i / per_block) * w->block_size +
					      (uint64_t)(i % per_block) * w->desc_size,
				      from + i, holder);
	return status;
}

/* Groups whose descriptors lie in one table behind the superblock. */
uint32_t ext_plain_groups(const struct ext_walk *w)
{
	uint64_t plain;

	if (!(w->incompat & EXT_INCOMPAT_META_BG))
		return w->group_count;
	plain = ONDISK_LE(w->super, super_block, s_first_meta_bg) * (w->block_size / w->desc_size);
	return plain < w->group_count ? plain : w->group_count;
}

/* The copy of the superblock and of descriptors that is in this group. */
int ext_walk_copies(struct ext_walk *w, uint32_t group)
{
	uint32_t per_block = w->block_size / w->desc_size, place = group % per_block;
	uint64_t meta = ext_group_meta_block(w, group), super = ext_group_super_block(w, group);
	int status = 0;

	if (ext_group_has_super(w, group)) {
		ext_add_super(w, group ? super * w->block_size : EXT_SUPER_AT, group);
		status = ext_add_descs(w, super + 1, 0, ext_plain_groups(w),
				       group ? group : UINT32_MAX);
	}
	if (!status && meta)
		status = ext_add_descs(w, meta, group - place, per_block,
				       place ? group : UINT32_MAX);
	return status;
}

uint64_t ext_desc_block(const struct ext_walk *w, const uint8_t *desc, unsigned low, unsigned high)
{
	uint64_t block = ondisk_le(desc + low, 4);

	return high + 4 <= w->desc_size ? block | ondisk_le(desc + high, 4) << 32 : block;
}

/* The byte with the last bit of the used ones, which all lie at the beginning; the whole byte
 * behind it if there is none left in it. */
static uint32_t ext_bitmap_edge(const uint8_t *bits, uint32_t len)
{
	uint32_t last = len;

	while (last && !bits[last - 1])
		last--;
	if (last && bits[last - 1] == 0xff && last < len)
		last++;
	return last ? last - 1 : 0;
}

/* Bytes of a bitmap that are for blocks of the last group: the bits behind them are set. */
static uint32_t ext_last_group_len(const struct ext_walk *w, uint32_t per_group)
{
	uint64_t blocks = w->block_count - ext_group_first(w, w->group_count - 1);
	uint32_t ratio = per_group ? w->blocks_per_group / per_group : 0;

	return ratio && blocks / ratio >= 8 ? (uint32_t)(blocks / ratio / 8) : 1;
}

/* The first byte behind the bits of a group, and the last one of the block. */
static void ext_walk_padding(struct ext_walk *w, uint32_t group, bool inodes, uint64_t at,
			     uint32_t used)
{
	const uint64_t bytes[] = { at + used, at + w->block_size - 1 };

	for (size_t i = 0; i < ARRAY_LEN(bytes) && used < w->block_size; i++) {
		if (inodes)
			ext_add(w, inode_bitmap_padding, bytes[i], 1, "group %u", group);
		else
			ext_add(w, block_bitmap_padding, bytes[i], 1, "group %u", group);
	}
}

static int ext_walk_bitmap(struct ext_walk *w, uint32_t group, bool inodes)
{
	uint64_t desc_at = w->descs[group];
	const uint8_t *desc = w->disk + desc_at, *bits;
	uint64_t block = inodes ? ext_desc_block(w, desc, group_desc_bg_inode_bitmap_lo_AT,
						 group_desc_bg_inode_bitmap_hi_AT)
				: ext_desc_block(w, desc, group_desc_bg_block_bitmap_lo_AT,
						 group_desc_bg_block_bitmap_hi_AT);
	uint32_t per_group = inodes ? w->inodes_per_group
				    : ONDISK_LE(w->super, super_block, s_clusters_per_group);
	uint32_t len = (per_group + 7) / 8, edge = len,
		 uninit = inodes ? EXT_BG_INODE_UNINIT : EXT_BG_BLOCK_UNINIT;
	struct ondisk_cover cover = {
		.kind = inodes ? EXT_SUM_INODE_BITMAP : EXT_SUM_BLOCK_BITMAP,
		.of = desc_at,
		.number = w->desc_size,
	};

	if (!inodes && group == w->group_count - 1)
		edge = ext_last_group_len(w, per_group);
	bits = ext_block(w, block);
	if (!bits || len > w->block_size)
		return ext_damaged(w, "a bitmap of group %u cannot be", group);
	/* A bitmap can come to be used when its pointer or the flags change. */
	cover.at = desc_at;
	cover.len = group_desc_bg_exclude_bitmap_lo_AT;
	ext_cover(w, cover);
	if (w->desc_size > 32) {
		cover.at = desc_at + group_desc_bg_block_bitmap_hi_AT;
		cover.len = 8;
		ext_cover(w, cover);
	}
	if (ONDISK_LE(desc, group_desc, bg_flags) & uninit)
		return 0;
	cover.at = block * w->block_size;
	cover.len = len;
	ext_cover(w, cover);
	ext_walk_padding(w, group, inodes, cover.at, edge);
	if (inodes) {
		ext_add(w, inode_bitmap, cover.at, len, "group %u", group);
		ext_add(w, inode_bitmap_edge, cover.at + ext_bitmap_edge(bits, edge), 1, "group %u",
			group);
	} else {
		ext_add(w, block_bitmap, cover.at, len, "group %u", group);
		ext_add(w, block_bitmap_edge, cover.at + ext_bitmap_edge(bits, edge), 1, "group %u",
			group);
	}
	return 0;
}

static int ext_walk_groups(struct ext_walk *w)
{
	int status = 0;

	for (uint32_t group = 0; group < w->group_count && !status; group++)
		status = ext_walk_copies(w, group);
	for (uint32_t group = 0; group < w->group_count && !status; group++) {
		if (!w->descs[group])
			return ext_damaged(w, "group %u has no descriptor", group);
		status = ext_walk_bitmap(w, group, false);
		if (!status)
			status = ext_walk_bitmap(w, group, true);
	}
	return status;
}

static int ext_walk_mmp(struct ext_walk *w)
{
	uint64_t block = ONDISK_LE(w->super, super_block, s_mmp_block), at = block * w->block_size;

	if (!(w->incompat & EXT_INCOMPAT_MMP) || !block)
		return 0;
	if (!ext_new_block(w, block))
		return -EUCLEAN;
	ext_add(w, mmp_struct, at, 1024, "block %llu", (unsigned long long)block);
	ext_cover(w, (struct ondisk_cover){ .at = at, .len = 1024, .kind = EXT_SUM_MMP, .of = at });
	return 0;
}

/* Inodes */

static void ext_set_path(struct ext_walk *w, uint32_t number, const char *path)
{
	if (number && number <= w->inode_count && !w->paths[number])
		w->paths[number] = must_strdup(path);
}

static void ext_name_reserved(struct ext_walk *w)
{
	static const char *const names[] = {
		NULL,        "bad blocks", "/",       "user quota", "group quota", "boot loader",
		"undeleted", "resize",     "journal", "exclude",    "replica",
	};

	for (size_t i = 1; i < ARRAY_LEN(names); i++)
		ext_set_path(w, i, names[i]);
	if (ONDISK_LE(w->super, super_block, s_first_ino) > ROOT) {
		ext_set_path(w, ONDISK_LE(w->super, super_block, s_prj_quota_inum),
			     "project quota");
		ext_set_path(w, ONDISK_LE(w->super, super_block, s_orphan_file_inum),
			     "orphan file");
	}
}

/* The list of orphan inodes: each has the number of the next one for its time of deletion. */
static int ext_name_orphans(struct ext_walk *w)
{
	uint32_t number = ONDISK_LE(w->super, super_block, s_last_orphan);

	for (int i = 0; number; i++) {
		struct ext_file f;
		int status = i < ORPHANS_MAX ? ext_file_open(w, &f, number)
					     : ext_damaged(w, "the list of orphans has no end");

		if (status)
			return status;
		ext_set_path(w, number, "orphan");
		number = ONDISK_LE(f.inode, inode, i_dtime);
	}
	return 0;
}

void ext_name_entry(struct ext_walk *w, const struct ext_file *dir, uint32_t number,
		    const uint8_t *name, size_t len)
{
	const char *parent = w->paths[dir->number] ? w->paths[dir->number] : "?";
	char path[PATH_LEN_MAX];

	if (!number || number > w->inode_count || w->paths[number])
		return;
	snprintf(path, sizeof(path), "%s%s%.*s", parent, strcmp(parent, "/") ? "/" : "", (int)len,
		 (const char *)name);
	ext_set_path(w, number, path);
	w->queue[w->queue_len++] = number;
}

/* Names what is in this inode, if it is a directory. */
static int ext_name_entries(struct ext_walk *w, uint32_t number)
{
	struct ext_file f;
	int status = ext_file_open(w, &f, number);

	if (status || !S_ISDIR(f.mode))
		return status;
	status = ext_file_blocks(w, &f);
	if (!status)
		status = ext_dir_walk(w, &f);
	ext_file_close(&f);
	return status;
}

/* Walks what has a name: the root first, then whatever was found in a directory before. */
static int ext_name_tree(struct ext_walk *w)
{
	int status = 0;

	w->quiet = true;
	w->queue = must_alloc(((size_t)w->inode_count + 1) * sizeof(*w->queue));
	w->queue[w->queue_len++] = ROOT;
	for (size_t i = 0; i < w->queue_len && !status; i++)
		status = ext_name_entries(w, w->queue[i]);
	w->quiet = false;
	return status;
}

static int ext_walk_inodes(struct ext_walk *w, uint32_t group)
{
	const uint8_t *desc = w->disk + w->descs[group];
	const uint8_t *bits = ext_block(w, ext_desc_block(w, desc, group_desc_bg_inode_bitmap_lo_AT,
							  group_desc_bg_inode_bitmap_hi_AT));
	int status = 0;

	if (!bits)
		return -EUCLEAN;
	if (ONDISK_LE(desc, group_desc, bg_flags) & EXT_BG_INODE_UNINIT)
		return 0;
	for (uint32_t i = 0; i < w->inodes_per_group && !status; i++)
		if (bits[i / 8] & 1 << i % 8)
			status = ext_inode_walk(w, group * w->inodes_per_group + i + 1);
	return status;
}

static int ext_walk_all(struct ext_walk *w)
{
	int status = ext_walk_groups(w);

	if (status)
		return status;
	ext_cover_seeds(w);
	ext_name_reserved(w);
	status = ext_name_tree(w);
	if (!status)
		status = ext_name_orphans(w);
	memset(w->seen, 0, w->block_count / 8 + 1);
	if (!status)
		status = ext_walk_mmp(w);
	for (uint32_t group = 0; group < w->group_count && !status; group++)
		status = ext_walk_inodes(w, group);
	return status;
}

int ext_walk_open(struct ext_walk *w, struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	int status;

	*w = (struct ext_walk){ .m = m, .disk = disk, .err = err };
	status = ext_read_super(w);
	if (status)
		return status;
	w->descs = must_alloc(w->group_count * sizeof(*w->descs));
	w->paths = must_alloc(((size_t)w->inode_count + 1) * sizeof(*w->paths));
	w->seen = must_alloc(w->block_count / 8 + 1);
	return 0;
}

void ext_walk_close(struct ext_walk *w)
{
	for (uint32_t i = 0; w->paths && i <= w->inode_count; i++)
		free(w->paths[i]);
	free(w->paths);
	free(w->queue);
	free(w->descs);
	free(w->seen);
}

static int ext_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct ext_walk w;
	int status = ext_walk_open(&w, m, disk, err);

	if (!status)
		status = ext_walk_all(&w);
	ext_walk_close(&w);
	return status;
}

const struct ondisk_format ondisk_ext = {
	.name = "ext",
	.structures = ext_def_structures,
	.structure_count = ARRAY_LEN(ext_def_structures),
	.recognises = ext_recognises,
	.walk = ext_walk,
	.seal = ext_seal,
};
