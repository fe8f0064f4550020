/* test_audit_ext.c -- disks that mke2fs, debugfs and e2fsck have made break no rule of ext2, ext3
 * and ext4; with one field changed, they break the rule of that field. */
#include "tests/harness/audit_damage.h"
#include "tests/harness/ext_disks.h"

/* As e2fsck leaves it: what is to be replayed is replayed, and orphans are gone. */
static void repair(struct disk *d)
{
	struct buf out = BUF_INIT;

	run(&out, "e2fsck -fy %s", d->path);
	buf_free(&out);
	memcpy(d->base, d->bytes, d->size);
	ondisk_free(&d->map);
	assert_int_equal(ondisk_read(&d->map, d->base, d->size, &(struct err){ 0 }), 0);
}

static void clean_disks_break_no_rule(void **state)
{
	for_each_disk(d)
	{
		repair(d);
		audit_finds_nothing(d->base, d->size, d->variant->name);
	}
}

static const struct audit_damage damages[] = {
	{ "ext4", "super_block.s_free_blocks_count_lo", "primary", 1,
	  "the number of free blocks is wrong" },
	{ "ext4", "super_block.s_free_inodes_count", "primary", 1,
	  "the number of free inodes is wrong" },
	{ "ext4", "super_block.s_state", "primary", 0,
	  "the superblock does not say that the disk is clean" },
	{ "ext4", "super_block.s_last_orphan", "primary", 12, "the list of orphans is not empty" },
	{ "orphan-file", "orphan_entry.inode", "[0]", 12, "the orphan file is not empty" },
	{ "orphan-file", "orphan_block_tail.ob_magic", "", 1, "the orphan file cannot be" },
	{ "quota", "v2r1_disk_dqblk.dqb_curspace", "id 0", 1,
	  "a quota file has not what is in use" },
	{ "quota", "v2r1_disk_dqblk.dqb_curinodes", "id 0", 1,
	  "a quota file has not what is in use" },
	{ "quota", "v2r1_disk_dqblk.dqb_id", "id 0", 1, "a quota file lacks an id that has files" },
	{ "quota", "qt_tree.block", "block 1 ", 0, "a quota file lacks an id that has files" },
	{ "quota", "qt_tree.block", "block 1 ", 1, "the tree of a quota file cannot be" },
	{ "quota", "qt_tree.block", "block 1 ", 0xffff, "the tree of a quota file cannot be" },
	{ "ext4", "journal_superblock.s_start", "", 1, "the journal is not empty" },
	{ "flex", "super_block.s_magic", "backup in group 1", 1,
	  "a backup of the superblock differs from it" },
	{ "ext4", "group_desc.bg_free_blocks_count_lo", "group 0", 1,
	  "the number of free blocks of a group is wrong" },
	{ "ext4", "group_desc.bg_free_inodes_count_lo", "group 0", 1,
	  "the number of free inodes of a group is wrong" },
	{ "ext4", "group_desc.bg_used_dirs_count_lo", "group 0", 1,
	  "the number of directories of a group is wrong" },
	{ "uninit", "group_desc.bg_itable_unused_lo", "group 0", 0xffff,
	  "bg_itable_unused counts inodes that are in use" },
	{ "ext4", "block_bitmap.bits", "group 0", 0, "a block in use is free in the bitmap" },
	{ "ext2-groups", "block_bitmap_edge.bits", "group 3", 0xff,
	  "a block that is not in use is not free in the bitmap" },
	{ "ext4", "inode.i_blocks_lo", "/big", 2, "i_blocks is not the number of blocks" },
	{ "ext2", "inode.i_blocks_lo", "/big", 2, "i_blocks is not the number of blocks" },
	{ "ext4", "inode.i_size_lo", "/big", 2, "i_size does not fit the blocks" },
	{ "ext4", "inode.i_size_lo", "/dir/sub", 1, "i_size does not fit the blocks" },
	{ "ext4", "inode.i_size_lo", "/fast", 3, "the length of a symbolic link is not i_size" },
	{ "ext4", "inode.i_size_lo", "/slow", 3, "the length of a symbolic link is not i_size" },
	{ "ext4", "inode.i_size_lo", "/pipe", 3, "a device, FIFO or socket has a size" },
	{ "ext4", "inode.i_dtime", "/big", 3, "an inode in use has a time of deletion" },
	{ "ext4", "inode.i_obso_faddr", "/big", 3, "i_faddr is not zero" },
	{ "ext4", "inode.i_extra_isize", "/big", 0x1f0, "i_extra_isize cannot be" },
	{ "ext4", "inode.i_flags", "/pipe", 0x80000,
	  "an inode has the flag of extents that it cannot have" },
	{ "ext4", "inode.i_flags", "/big", 0x81000,
	  "an inode has the flag of an index that it cannot have" },
	{ "ext4", "inode.i_flags", "/dir/sub", 0x280000,
	  "an inode has the flag of an attribute's value that it cannot have" },
	{ "ext4", "inode.i_flags", "/dir/sub", 0x40080000,
	  "an inode has the flag of case folding that it cannot have" },
	{ "ext4", "inode.i_links_count", "/big", 2, "the number of links is not that of names" },
	{ "ext4", "inode.i_links_count", "/dir/sub", 9,
	  "the number of links is not that of names" },
	{ "ext4", "inode.i_links_count", "/big", 0, "an inode in use has no links" },
	{ "ext4", "extent.ee_len", "/big", 0, "an extent has no length" },
	{ "ext4", "extent.ee_block", "/frag, level 1 [3]", 1,
	  "extents are not in order, or overlap" },
	{ "ext4", "extent.ee_start_lo", "/big", 1, "a block is used twice" },
	{ "ext4", "extent.ee_start_lo", "/big", 0xffffff,
	  "a block number lies outside of the file system" },
	{ "ext4", "extent_idx.ei_block", "/frag", 1,
	  "an index of extents begins elsewhere than its node" },
	{ "ext4", "extent_header.eh_max", "/big", 0xffff,
	  "the header of a node of extents cannot be" },
	{ "ext2", "indirect.pointer", "/big", 1, "a block is used twice" },
	{ "ext4", "dir_entry.file_type", "\"fast\"", 1,
	  "the file type in an entry is not that of the inode" },
	{ "ext4", "dir_entry.inode", "\"big\"", 2000,
	  "an entry leads to an inode that is not in use" },
	{ "ext4", "dir_entry.inode", "\"big\"", 0, "an inode in use has no name" },
	{ "ext4", "dir_entry.inode", "/dir/sub, \"..\"", 2, "\"..\" does not lead to the parent" },
	{ "ext4", "dir_entry.inode", "/dir/sub, \".\"", 2,
	  "a directory does not begin with \".\" and \"..\"" },
	{ "ext4", "dir_entry.rec_len", "\"big\"", 5, "the length of an entry cannot be" },
	{ "ext4", "dir_entry.name", "\"big\"", '/', "a name has a character that it cannot have" },
	{ "ext4", "dir_entry.name", "\"f\"", 'f', NULL },
	{ "ext4", "dir_entry.name", "\"f\"", '.', "a directory has \".\" or \"..\" twice" },
	{ "ext4", "dx_root_info.hash_version", "/many", 3,
	  "the root of a directory's index cannot be" },
	{ "ext4", "dx_root_info.indirect_levels", "/many", 2,
	  "the root of a directory's index cannot be" },
	{ "ext4", "dx_countlimit.limit", "/many", 120, "a node of a directory's index cannot be" },
	{ "ext4-4k", "dx_countlimit.count", "/many", 1,
	  "a directory's index leads not to all its blocks" },
	{ "ext4", "dx_entry.hash", "/many", 0xfffffffe,
	  "hashes of a directory's index are not in order" },
	{ "ext4", "dx_entry.block", "/many", 0xffff, "a directory's index leads behind its end" },
	{ "ext2", "dx_entry.block", "/many", 1, "a directory's index leads to a block twice" },
	{ "ext2", "dx_entry.hash", "/many", 2, "a name lies where its hash does not lead to" },
	{ "inline", "inline_dir.parent", "/dir/sub", 2, "\"..\" does not lead to the parent" },
	{ "inline", "inode.i_size_lo", "/dir/sub", 61,
	  "i_size is not the length of the data in the inode" },
	{ "ext4", "inode.i_mode", "inode 9", 0100644, "an inode that is set aside has a mode" },
	{ "flex", "indirect.pointer", "resize, level 2 [0]", 1,
	  "the resize inode has not the blocks that are set aside" },
	{ "flex", "indirect.pointer", "resize, level 1 [1]", 1,
	  "a block set aside for descriptors has no copy" },
	{ "ext2", "xattr_header.h_refcount", "/big", 7,
	  "h_refcount is not the number of inodes with these attributes" },
	{ "ext2", "xattr_header.h_blocks", "/big", 2,
	  "the header of a block of attributes cannot be" },
	{ "ext2", "xattr_entry.e_value_offs", "/big", 0x3f0,
	  "an attribute's value lies outside of its place" },
	{ "ext4", "xattr_entry.e_value_offs", "/f, small", 0,
	  "an attribute's value lies outside of its place" },
	{ "ext2", "xattr_entry.e_name_len", "/big", 0xff, NULL },
	{ "ext4", "inode.i_atime", "/big", 7, "a checksum is wrong" },
	{ "ext4", "super_block.s_wtime", "primary", 7, "a checksum is wrong" },
	{ "ext4", "dir_entry.name", "\"big\"", 'x', "a checksum is wrong" },
	{ "seed", "xattr_entry.e_value_inum", "/frag", 12,
	  "an attribute's value is in an inode that is no such" },
};

static void a_changed_field_breaks_its_rule(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(damages); i++)
		for_each_disk(d) if (!strcmp(d->variant->name, damages[i].variant))
			audit_try_damage(&d->map, d->base, &damages[i]);
}

/* A block of the table of inodes, and one that is free. */
static void disks_with_bad_blocks_are_left_out(void **state)
{
	for_each_disk(d) if (!strcmp(d->variant->name, "ext2-groups"))
	{
		const struct audit_damage damage = { "ext2-groups", "inode.i_block[0]", "inode 1, ",
						     1000, NULL };
		struct audit a = audit_damaged(&d->map, d->base, &damage);

		assert_int_equal(a.count, 0);
	}
}

enum { E_HASH_AT = 12 };

static uint32_t signed_hash(const uint8_t *name, uint32_t len, const uint8_t *value,
			    uint32_t value_len)
{
	uint32_t hash = 0;

	for (uint32_t i = 0; i < len; i++)
		hash = (hash << 5 | hash >> 27) ^ (uint32_t)(int8_t)name[i];
	for (uint32_t i = 0; i < value_len; i += 4)
		hash = (hash << 16 | hash >> 16) ^ (uint32_t)ondisk_le(value + i, 4);
	return hash;
}

/* Old kernels took the bytes of names as signed numbers, and new ones accept that. */
static void signed_hashes_of_attributes_are_right(void **state)
{
	static const struct audit_damage name = { "ext2", "xattr_entry.e_name", "/big", 0xfc,
						  NULL };
	static const struct audit_damage of = { "ext2", "xattr_value.bytes", "/big", 0, NULL };

	for_each_disk(d) if (!strcmp(d->variant->name, name.variant))
	{
		const struct ondisk_field *field;
		const struct ondisk_instance *value = audit_find(&d->map, &of, &field);
		const struct ondisk_instance *entry = audit_find(&d->map, &name, &field);
		uint8_t *bytes = must_alloc(d->size), *e = bytes + entry->at;
		uint32_t hash;
		struct audit a;

		memcpy(bytes, d->base, d->size);
		e[field->offset] = 0xfc;
		audit_disk(&a, bytes, d->size);
		assert_true(audit_has(&a, "a checksum is wrong"));
		hash = signed_hash(e + field->offset, e[0], bytes + value->at, value->size);
		for (unsigned i = 0; i < 4; i++)
			e[E_HASH_AT + i] = hash >> 8 * i;
		audit_disk(&a, bytes, d->size);
		assert_int_equal(a.count, 0);
		free(bytes);
	}
}

/* Then its blocks are not those of the file that has the attribute. */
static void values_of_lustre_count_for_themselves(void **state)
{
	static const struct audit_damage of = { "seed", "xattr_entry.e_value_inum", "/frag", 0,
						NULL };

	for_each_disk(d) if (!strcmp(d->variant->name, of.variant))
	{
		const struct ondisk_field *field;
		const struct ondisk_instance *entry = audit_find(&d->map, &of, &field);
		unsigned file = 0;
		struct audit_damage damage = {
			"seed", "inode.i_mtime", NULL, 0, "i_blocks is not the number of blocks",
		};
		char label[32];

		assert_int_equal(sscanf(entry->label, "inode %u", &file), 1);
		snprintf(label, sizeof(label), "inode %u",
			 (unsigned)ondisk_le(d->base + entry->at + field->offset, 4));
		damage.label = label;
		damage.value = file;
		audit_try_damage(&d->map, d->base, &damage);
	}
}

static void any_disk_is_audited(void **state)
{
	struct rng rng;

	rng_seed(&rng, 1);
	for_each_disk(d) audit_any(&d->map, d->base, &rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_disks_break_no_rule),
		cmocka_unit_test(a_changed_field_breaks_its_rule),
		cmocka_unit_test(disks_with_bad_blocks_are_left_out),
		cmocka_unit_test(signed_hashes_of_attributes_are_right),
		cmocka_unit_test(values_of_lustre_count_for_themselves),
		cmocka_unit_test(any_disk_is_audited),
	};

	return cmocka_run_group_tests(tests, make_disks, remove_disks);
}
