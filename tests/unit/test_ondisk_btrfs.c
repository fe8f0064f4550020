/* test_ondisk_btrfs.c -- structures of btrfs on disks that a kernel in a process filled, compared
 * with what btrfs inspect-internal prints; checksums, by btrfs check. */
#include "tests/harness/ondisk_disk.h"

enum { SMALL_FILES = 60 };

/* One copy of small blocks; two copies, and a second superblock. */
static const struct {
	const char *mkfs, *size;
} cases[] = {
	{ "mkfs.btrfs -q --mixed -m single -d single -n 4096 {image}", "16M" },
	{ "mkfs.btrfs -q -m dup -n 4096 {image}", "112M" },
};

static void fill(struct target *t)
{
	test_disk_content(t, 600000, SMALL_FILES);
	test_disk_unix_content(t);
	test_disk_call(t, "setxattr(\"d/tail\", \"user.small\", data(1, 10), 10, 0)");
	test_disk_call(t, "open(\"large\", O_RDONLY, 0)");
	test_disk_call(t, "open(\"clone\", O_CREAT|O_WRONLY, 0644)");
	test_disk_call(t, "ficlone(4, 3)");
	test_disk_call(t, "close(3)");
	test_disk_call(t, "close(4)");
}

static void each(void (*test)(struct test_disk *))
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct test_disk d;

		if (!test_disk_make(&d, "btrfs", cases[i].mkfs, cases[i].size, fill))
			skip();
		test_disk_walk(&d);
		assert_string_equal(d.map.format->name, "btrfs");
		test(&d);
		test_disk_free(&d);
	}
}

/* How many lines btrfs inspect-internal prints of all trees that have this. */
static size_t printed(const struct test_disk *d, const char *pattern)
{
	struct buf out = BUF_INIT;
	char command[160];
	size_t count;

	snprintf(command, sizeof(command),
		 "btrfs inspect-internal dump-tree \"$IMAGE\" 2>/dev/null | grep -ac '%s'",
		 pattern);
	test_disk_tool(d->bytes, d->size, command, &out);
	count = strtoul(buf_str(&out), NULL, 10);
	buf_free(&out);
	return count;
}

/* Items by type, as they are printed, and what they are here. */
static void check_items(const struct test_disk *d)
{
	static const struct {
		const char *pattern, *structure;
	} items[] = {
		{ "^leaf .* items\\|^node .* level", "btrfs_header" },
		{ "item [0-9]* key (", "btrfs_item" },
		{ "^\t\tlocation key (", "btrfs_dir_item" },
		{ "item.* INODE_REF ", "btrfs_inode_ref" },
		{ "item.* EXTENT_DATA ", "btrfs_file_extent_item" },
		{ "\tinline extent data size", "inline_data" },
		{ "item.* ROOT_ITEM ", "btrfs_root_item" },
		{ "item.* EXTENT_ITEM \\|item.* METADATA_ITEM ", "btrfs_extent_item" },
		{ "item.* BLOCK_GROUP_ITEM ", "btrfs_block_group_item" },
		{ "item.* FREE_SPACE_INFO ", "btrfs_free_space_info" },
		{ "item.* DEV_EXTENT ", "btrfs_dev_extent" },
		{ "item.* EXTENT_CSUM ", "btrfs_csum_item" },
	};
	/* Each block has a header in each copy. */
	size_t copies = test_disk_count(d, "btrfs_super_block");

	for (size_t i = 0; i < ARRAY_LEN(items); i++) {
		size_t count = printed(d, items[i].pattern) * (i ? 1 : copies);

		if (count != test_disk_count(d, items[i].structure))
			fail_msg("%s: %zu printed, %zu found", items[i].structure, count,
				 test_disk_count(d, items[i].structure));
	}
	/* Chunks are also in superblocks. */
	assert_int_equal(printed(d, "item.* CHUNK_ITEM ") + copies,
			 test_disk_count(d, "btrfs_chunk"));
	assert_int_equal(1 + copies, test_disk_count(d, "btrfs_dev_item"));
}

static void check_structures(struct test_disk *d)
{
	test_disk_check(d);
	test_disk_check_tables(d->map.format);
	test_disk_seal_unchanged(d);
	check_items(d);
	assert_int_equal(test_disk_value(d, "btrfs_inode_item.size", "/root/large"), 600000);
	assert_int_equal(test_disk_value(d, "btrfs_inode_item.nlink", "/root/d/tail, INODE"), 2);
	assert_int_equal(test_disk_value(d, "btrfs_inode_item.rdev", "/root/chr"), 1 << 20 | 3);
	assert_int_equal(test_disk_value(d, "btrfs_super_block.magic", "superblock"),
			 0x4d5f53665248425f);
}

static void finds_all_structures(void **state)
{
	each(check_structures);
}

static void check_seal(struct test_disk *d)
{
	/* Geometry; what kind of checksums they are. */
	static const char *const except[] = { "btrfs_super_block.csum_type",
					      "btrfs_super_block.nodesize",
					      "btrfs_super_block.sectorsize", NULL };

	if (test_disk_count(d, "btrfs_super_block") > 1)
		return;
	test_disk_seal_holds(d,
			     "btrfs check --check-data-csum \"$IMAGE\" 2>&1 | grep -aq 'checksum "
			     "verify failed\\|superblock checksum mismatch\\|expected csum'",
			     except);
}

static void seals_checksums(void **state)
{
	each(check_seal);
}

static void check_damage(struct test_disk *d)
{
	test_disk_damage(d);
	test_disk_cut(d);
}

static void a_damaged_disk_is_walked_within_bounds(void **state)
{
	each(check_damage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_all_structures),
		cmocka_unit_test(seals_checksums),
		cmocka_unit_test(a_damaged_disk_is_walked_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
