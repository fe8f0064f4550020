/* ext_audit_resize.c -- the rule of the resize inode: it holds the blocks that are set aside for
 * descriptors of later groups, and each of these leads to its copies in the groups that have
 * backups (verify_reserved_gdb() in fs/ext4/resize.c). */
#include <inttypes.h>

#include "audit/ext_audit.h"

enum { COMPAT_RESIZE_INODE = 0x10, INCOMPAT_META_BG = 0x10, POINTER_LEN = 4 };

/* A block set aside has the numbers of its copies, in the order of the groups. */
static void ext_audit_reserved_block(struct ext_audit *a, uint64_t block)
{
	const uint8_t *copies = ext_block(&a->w, block);
	uint32_t known = 0, room = a->w.block_size / POINTER_LEN;

	for (uint32_t group = 1; copies && group < a->w.group_count && known < room; group++) {
		if (!ext_group_has_super(&a->w, group))
			continue;
		if (ondisk_le(copies + (uint64_t)known * POINTER_LEN, POINTER_LEN) !=
		    block + (uint64_t)group * a->w.blocks_per_group)
			audit_breach(a->audit, "a block set aside for descriptors has no copy",
				     "block %" PRIu64 ", group %u", block, group);
		known++;
	}
}

void ext_audit_resize(struct ext_audit *a)
{
	uint32_t per_block = a->w.block_size / a->w.desc_size, room = a->w.block_size / POINTER_LEN;
	uint32_t tables = (a->w.group_count + per_block - 1) / per_block;
	uint64_t reserved = ONDISK_LE(a->w.super, super_block, s_reserved_gdt_blocks);
	uint64_t first = a->w.first_data_block + 1 + tables;
	const uint8_t *map;
	struct ext_file f;

	if (!(a->w.compat & COMPAT_RESIZE_INODE) || a->w.incompat & INCOMPAT_META_BG ||
	    ext_file_open(&a->w, &f, EXT_AUDIT_RESIZE))
		return;
	map = ext_block(&a->w, ONDISK_LE(f.inode, inode_block, i_block_13));
	for (uint64_t i = 0; map && i < reserved && i < room; i++) {
		uint64_t at = (tables + i) % room * POINTER_LEN;

		if (ondisk_le(map + at, POINTER_LEN) != first + i)
			audit_breach(a->audit,
				     "the resize inode has not the blocks that are set aside",
				     "number %" PRIu64 ": block %" PRIu64 ", not %" PRIu64, i,
				     ondisk_le(map + at, POINTER_LEN), first + i);
		else
			ext_audit_reserved_block(a, first + i);
	}
	ext_file_close(&f);
}
