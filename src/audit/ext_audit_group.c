/* ext_audit_group.c -- the rules of groups: their bitmaps, their counts, and the backups. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/ext_audit.h"
#include "base/must.h"

static uint64_t ext_audit_desc_count(const struct ext_audit *a, const uint8_t *desc, unsigned low,
				     unsigned high)
{
	uint64_t count = ondisk_le(desc + low, 2);

	return high + 2 <= a->w.desc_size ? count | ondisk_le(desc + high, 2) << 16 : count;
}

#define DESC_COUNT(a, desc, field) \
	ext_audit_desc_count(a, desc, group_desc_##field##_lo_AT, group_desc_##field##_hi_AT)
#define DESC_BLOCK(a, desc, field) \
	ext_desc_block(&(a)->w, desc, group_desc_##field##_lo_AT, group_desc_##field##_hi_AT)

/* ---- metadata of groups ---- */

static void ext_audit_copies(struct ext_audit *a, uint32_t group)
{
	uint32_t per_block = a->w.block_size / a->w.desc_size;
	uint64_t super = ext_group_super_block(&a->w, group),
		 meta = ext_group_meta_block(&a->w, group);
	uint64_t table = (ext_plain_groups(&a->w) + per_block - 1) / per_block +
			 ONDISK_LE(a->w.super, super_block, s_reserved_gdt_blocks);

	if (ext_group_has_super(&a->w, group)) {
		/* With blocks of 1024 bytes, what is before the superblock does not count. */
		for (uint64_t i = 0; i <= table; i++)
			if (super + i >= a->w.first_data_block && super + i < a->w.block_count)
				ext_audit_use(a, super + i, "the superblock and descriptors", 0);
	}
	if (meta)
		ext_audit_use(a, meta, "descriptors", 0);
}

void ext_audit_metadata(struct ext_audit *a)
{
	uint64_t table = ((uint64_t)a->w.inodes_per_group * a->w.inode_size + a->w.block_size - 1) /
			 a->w.block_size;

	for (uint32_t group = 0; group < a->w.group_count; group++)
		ext_audit_copies(a, group);
	for (uint32_t group = 0; group < a->w.group_count; group++) {
		const uint8_t *desc = a->w.disk + a->w.descs[group];
		uint64_t first = DESC_BLOCK(a, desc, bg_inode_table);

		ext_audit_use(a, DESC_BLOCK(a, desc, bg_block_bitmap), "a bitmap of blocks", 0);
		ext_audit_use(a, DESC_BLOCK(a, desc, bg_inode_bitmap), "a bitmap of inodes", 0);
		for (uint64_t i = 0; i < table; i++)
			if (!ext_audit_use(a, first + i, "a table of inodes", 0))
				break;
	}
	if (a->w.incompat & EXT_INCOMPAT_MMP)
		ext_audit_use(a, ONDISK_LE(a->w.super, super_block, s_mmp_block), "mmp", 0);
}

/* ---- counts ---- */

struct ext_audit_counts {
	uint64_t free_blocks, free_inodes, dirs;
	uint32_t last_inode; /* of the group that is in use, from 1; 0: none is */
};

static uint64_t ext_audit_group_len(const struct ext_audit *a, uint32_t group)
{
	uint64_t left = a->w.block_count - ext_group_first(&a->w, group);

	return left < a->w.blocks_per_group ? left : a->w.blocks_per_group;
}

static void ext_audit_block_bitmap(struct ext_audit *a, uint32_t group, struct ext_audit_counts *c)
{
	const uint8_t *desc = a->w.disk + a->w.descs[group];
	const uint8_t *bits = ext_block(&a->w, DESC_BLOCK(a, desc, bg_block_bitmap));
	uint64_t first = ext_group_first(&a->w, group), len = ext_audit_group_len(a, group);
	bool uninit = ONDISK_LE(desc, group_desc, bg_flags) & EXT_BG_BLOCK_UNINIT;

	for (uint64_t i = 0; bits && i < len; i++) {
		bool used = ext_audit_bit(a->used, first + i);

		c->free_blocks += !used;
		if (!uninit && used != ext_audit_bit(bits, i))
			audit_breach(a->audit,
				     used ? "a block in use is free in the bitmap"
					  : "a block that is not in use is not free in the bitmap",
				     "group %u: block %" PRIu64, group, first + i);
	}
	for (uint64_t i = len; bits && !uninit && i < 8ULL * a->w.block_size; i++)
		if (!ext_audit_bit(bits, i))
			audit_breach(a->audit, "the bits behind the end of a bitmap are not set",
				     "blocks of group %u", group);
}

static void ext_audit_inode_bitmap(struct ext_audit *a, uint32_t group, struct ext_audit_counts *c)
{
	const uint8_t *desc = a->w.disk + a->w.descs[group];
	const uint8_t *bits = ext_block(&a->w, DESC_BLOCK(a, desc, bg_inode_bitmap));
	uint32_t first = group * a->w.inodes_per_group + 1;
	bool uninit = ONDISK_LE(desc, group_desc, bg_flags) & EXT_BG_INODE_UNINIT;

	for (uint32_t i = 0; bits && i < a->w.inodes_per_group; i++) {
		bool used = !uninit && ext_audit_bit(bits, i);

		c->free_inodes += !used;
		c->dirs += used && S_ISDIR(a->inodes[first + i].mode);
		if (used)
			c->last_inode = i + 1;
	}
	for (uint64_t i = a->w.inodes_per_group; bits && !uninit && i < 8ULL * a->w.block_size; i++)
		if (!ext_audit_bit(bits, i))
			audit_breach(a->audit, "the bits behind the end of a bitmap are not set",
				     "inodes of group %u", group);
}

/* Inodes behind what is used of the table, as the descriptor says, are not looked at. */
static void ext_audit_unused(struct ext_audit *a, uint32_t group, const struct ext_audit_counts *c)
{
	uint64_t unused = DESC_COUNT(a, a->w.disk + a->w.descs[group], bg_itable_unused);

	if (a->w.ro_compat & (EXT_RO_COMPAT_GDT_CSUM | EXT_RO_COMPAT_METADATA_CSUM) &&
	    unused + c->last_inode > a->w.inodes_per_group)
		audit_breach(a->audit, "bg_itable_unused counts inodes that are in use",
			     "group %u: %llu", group, (unsigned long long)unused);
}

static void ext_audit_count(struct ext_audit *a, const char *rule, uint32_t group, uint64_t said,
			    uint64_t counted)
{
	if (said != counted)
		audit_breach(a->audit, rule, "group %u: %llu, of %llu", group,
			     (unsigned long long)said, (unsigned long long)counted);
}

void ext_audit_groups(struct ext_audit *a)
{
	uint64_t free_blocks = 0, free_inodes = 0;
	uint64_t said = ONDISK_LE(a->w.super, super_block, s_free_blocks_count_lo);

	for (uint32_t group = 0; group < a->w.group_count; group++) {
		const uint8_t *desc = a->w.disk + a->w.descs[group];
		struct ext_audit_counts c = { 0 };

		ext_audit_block_bitmap(a, group, &c);
		ext_audit_inode_bitmap(a, group, &c);
		ext_audit_unused(a, group, &c);
		ext_audit_count(a, "the number of free blocks of a group is wrong", group,
				DESC_COUNT(a, desc, bg_free_blocks_count), c.free_blocks);
		ext_audit_count(a, "the number of free inodes of a group is wrong", group,
				DESC_COUNT(a, desc, bg_free_inodes_count), c.free_inodes);
		ext_audit_count(a, "the number of directories of a group is wrong", group,
				DESC_COUNT(a, desc, bg_used_dirs_count), c.dirs);
		free_blocks += c.free_blocks;
		free_inodes += c.free_inodes;
	}
	if (a->w.incompat & EXT_INCOMPAT_64BIT)
		said |= ONDISK_LE(a->w.super, super_block, s_free_blocks_count_hi) << 32;
	if (said != free_blocks)
		audit_breach(a->audit, "the number of free blocks is wrong", "%llu, of %llu",
			     (unsigned long long)said, (unsigned long long)free_blocks);
	said = ONDISK_LE(a->w.super, super_block, s_free_inodes_count);
	if (said != free_inodes)
		audit_breach(a->audit, "the number of free inodes is wrong", "%llu, of %llu",
			     (unsigned long long)said, (unsigned long long)free_inodes);
}

/* ---- backups ---- */

/* What a backup must have to be of use: the same geometry, features and UUID. */
static void ext_audit_backup_super(struct ext_audit *a, uint32_t group)
{
	static const struct {
		const char *name;
		uint16_t at, len;
	} fields[] = {
#define SAME(field) { #field, super_block_##field##_AT, super_block_##field##_LEN }
		SAME(s_magic),
		SAME(s_inodes_count),
		SAME(s_blocks_count_lo),
		SAME(s_log_block_size),
		SAME(s_first_data_block),
		SAME(s_blocks_per_group),
		SAME(s_inodes_per_group),
		SAME(s_rev_level),
		SAME(s_inode_size),
		SAME(s_feature_compat),
		SAME(s_uuid),
		SAME(s_desc_size),
#undef SAME
	};
	const uint8_t *backup = ext_block(&a->w, ext_group_super_block(&a->w, group));

	for (size_t i = 0; backup && i < ARRAY_LEN(fields); i++)
		if (memcmp(backup + fields[i].at, a->w.super + fields[i].at, fields[i].len) != 0)
			audit_breach(a->audit, "a backup of the superblock differs from it",
				     "group %u: %s", group, fields[i].name);
}

void ext_audit_backups(struct ext_audit *a)
{
	for (uint32_t group = 1; group < a->w.group_count; group++)
		if (ext_group_has_super(&a->w, group))
			ext_audit_backup_super(a, group);
}
