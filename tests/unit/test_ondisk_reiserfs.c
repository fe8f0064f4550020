/* test_ondisk_reiserfs.c -- structures of ReiserFS 3.6 and 3.5 on disks that a kernel in a process
 * filled, compared with what debugreiserfs prints. */
#include "tests/harness/ondisk_disk.h"

static void fill(struct target *t)
{
	test_disk_content(t, 600000, 100);
	test_disk_unix_content(t);
}

static bool disk_of(struct test_disk *d)
{
	if (!test_disk_make(d, "reiserfs", "mkfs.reiserfs -q -f -f -b 1024 -s 513 {image}", "8M",
			    fill))
		return false;
	test_disk_walk(d);
	assert_string_equal(d->map.format->name, "reiserfs");
	return true;
}

/* How often a pattern is in what debugreiserfs prints of the tree. */
static size_t printed(const struct test_disk *d, const char *pattern)
{
	struct buf out = BUF_INIT;
	char command[128];
	size_t count;

	snprintf(command, sizeof(command),
		 "debugreiserfs -d \"$IMAGE\" 2>/dev/null | grep -ao '%s' | wc -l", pattern);
	assert_int_equal(test_disk_tool(d->bytes, d->size, command, &out), 0);
	count = strtoul(buf_str(&out), NULL, 10);
	buf_free(&out);
	return count;
}

static void check_structures(struct test_disk *d)
{
	test_disk_check(d);
	test_disk_check_tables(d->map.format);
	assert_int_equal(printed(d, "LEAF NODE\\|INTERNAL NODE"), test_disk_count(d, "block_head"));
	assert_int_equal(printed(d, "PTR [0-9]*:"), test_disk_count(d, "disk_child"));
	assert_int_equal(printed(d, "KEY [0-9]*:"), test_disk_count(d, "reiserfs_key") +
							    test_disk_count(d, "reiserfs_key_v1"));
	assert_int_equal(printed(d, "^| *[0-9]*|[0-9]"),
			 test_disk_count(d, "item_head") + test_disk_count(d, "item_head_v1"));
	assert_int_equal(printed(d, "^(NEW SD)\\|^(OLD SD)"),
			 test_disk_count(d, "stat_data") + test_disk_count(d, "stat_data_v1"));
	assert_int_equal(printed(d, "^ *[0-9]*: \""), test_disk_count(d, "reiserfs_de_head"));
	assert_int_equal(test_disk_count(d, "entry_name"), test_disk_count(d, "reiserfs_de_head"));
	assert_true(test_disk_count(d, "item_head") > 100);
	assert_true(test_disk_count(d, "item_head_v1") > 0);
	assert_true(test_disk_count(d, "direct_item") >= 2);
	/* a pointer for each block of the large file, and of the small ones */
	assert_true(test_disk_count(d, "unfm_nodeinfo") >= 600000 / 1024);
}

static void finds_all_structures(void **state)
{
	struct test_disk d;

	if (!disk_of(&d))
		skip();
	check_structures(&d);
	test_disk_free(&d);
}

/* The journal's header has the parameters of the superblock, and transactions have commits. */
static void check_journal(struct test_disk *d)
{
	static const char *const fields[] = { "jp_journal_1st_block", "jp_journal_size",
					      "jp_journal_trans_max", "jp_journal_magic",
					      "jp_journal_max_batch" };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		char in_header[64], in_super[64];

		snprintf(in_header, sizeof(in_header), "reiserfs_journal_header.%s", fields[i]);
		snprintf(in_super, sizeof(in_super), "reiserfs_super_block.%s", fields[i]);
		assert_int_equal(test_disk_value(d, in_header, "journal header"),
				 test_disk_value(d, in_super, "superblock"));
	}
	assert_true(test_disk_count(d, "reiserfs_journal_desc") > 0);
	assert_int_equal(test_disk_count(d, "reiserfs_journal_desc"),
			 test_disk_count(d, "reiserfs_journal_commit"));
	assert_int_equal(test_disk_count(d, "reiserfs_journal_desc"),
			 test_disk_count(d, "journal_desc_magic"));
	assert_true(test_disk_count(d, "journal_realblock") >=
		    test_disk_count(d, "reiserfs_journal_desc"));
}

static void finds_the_journal(void **state)
{
	struct test_disk d;

	if (!disk_of(&d))
		skip();
	check_journal(&d);
	test_disk_free(&d);
}

/* What a field is called is what the checker reads it as. */
static void check_corruption(struct test_disk *d)
{
	static const char *const fields[] = { "reiserfs_super_block.s_root_block",
					      "block_head.blk_level", "disk_child.dc_block_number",
					      "reiserfs_de_head.deh_location",
					      "unfm_nodeinfo.unfm_nodenum" };

	assert_int_equal(test_disk_tool(d->bytes, d->size,
					"reiserfsck --check -y -q \"$IMAGE\" 2>&1", NULL),
			 0);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		struct test_disk copy = *d;

		copy.bytes = must_alloc(d->size);
		memcpy(copy.bytes, d->bytes, d->size);
		test_disk_corrupt(&copy, fields[i], "", 0x7e);
		assert_int_not_equal(
			test_disk_tool(copy.bytes, d->size,
				       "timeout 20 reiserfsck --check -y -q \"$IMAGE\" 2>&1", NULL),
			0);
		free(copy.bytes);
	}
}

static void fields_are_what_the_checker_reads(void **state)
{
	struct test_disk d;

	if (!disk_of(&d))
		skip();
	check_corruption(&d);
	test_disk_free(&d);
}

static void check_damage(struct test_disk *d)
{
	test_disk_damage(d);
	test_disk_cut(d);
}

static void a_damaged_disk_is_walked_within_bounds(void **state)
{
	struct test_disk d;

	if (!disk_of(&d))
		skip();
	check_damage(&d);
	test_disk_free(&d);
}

/* As mkfs leaves it: this kernel does not mount it. */
static void version_3_5_has_older_items(void **state)
{
	struct test_disk d;

	if (!test_disk_by(&d, 40 << 20, "mkfs.reiserfs -q -f -f --format 3.5 \"$IMAGE\" 2>&1"))
		skip();
	test_disk_walk(&d);
	test_disk_check(&d);
	assert_int_equal(test_disk_count(&d, "stat_data_v1"), 1);
	assert_int_equal(test_disk_count(&d, "item_head_v1"), 2);
	assert_int_equal(test_disk_count(&d, "item_head"), 0);
	assert_int_equal(test_disk_count(&d, "reiserfs_de_head"), 2);
	assert_int_equal(test_disk_value(&d, "stat_data_v1.sd_mode", "object 2"), 0040755);
	test_disk_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_all_structures),
		cmocka_unit_test(finds_the_journal),
		cmocka_unit_test(version_3_5_has_older_items),
		cmocka_unit_test(fields_are_what_the_checker_reads),
		cmocka_unit_test(a_damaged_disk_is_walked_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
