/* test_ondisk_f2fs.c -- structures of F2FS on disks that a kernel in a process filled, compared
 * with what dump.f2fs and fsck.f2fs print; checksums, by fsck.f2fs. */
#include "tests/harness/ondisk_disk.h"

enum { SMALL_FILES = 60, MANY = 300 };

static const char *const cases[] = {
	"mkfs.f2fs -q -f {image}",
	"mkfs.f2fs -q -f -O extra_attr,inode_checksum,sb_checksum,inode_crtime {image}",
};

static void fill(struct target *t)
{
	test_disk_content(t, 6000000, SMALL_FILES);
	test_disk_unix_content(t);
	test_disk_call(t, "setxattr(\"d/tail\", \"user.small\", data(1, 10), 10, 0)");
	test_disk_call(t, "setxattr(\"large\", \"user.large\", data(1, 2000), 2000, 0)");
	/* Behind what inode and direct nodes address. */
	test_disk_call(t,
		       "write_file(\"sparse\", O_CREAT|O_WRONLY, data(1, 4096), 4096, 12288000)");
	test_disk_call(t, "mkdir(\"many\", 0755)");
	for (unsigned i = 0; i < MANY; i++)
		test_disk_callf(t, "mknod(\"many/%060u\", S_IFREG|0600, 0)", i);
}

static void each(void (*test)(struct test_disk *))
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct test_disk d;

		if (!test_disk_make(&d, "f2fs", cases[i], "54M", fill))
			skip();
		test_disk_walk(&d);
		assert_string_equal(d.map.format->name, "f2fs");
		test(&d);
		test_disk_free(&d);
	}
}

/* The hexadecimal number in the line of fsck.f2fs that has this text. */
static uint64_t printed(const struct buf *out, const char *text)
{
	const char *line = strstr(buf_str(out), text), *number;

	assert_non_null(line);
	number = strstr(line, "[0x");
	assert_non_null(number);
	return strtoull(number + 1, NULL, 16);
}

static void check_structures(struct test_disk *d)
{
	struct buf out = BUF_INIT;

	test_disk_check(d);
	test_disk_check_tables(d->map.format);
	test_disk_seal_unchanged(d);
	assert_int_equal(
		test_disk_tool(d->bytes, d->size, "fsck.f2fs --dry-run \"$IMAGE\" 2>&1", &out), 0);
	assert_int_equal(test_disk_count(d, "node_footer"),
			 printed(&out, "valid_node_count matching with CP (nat"));
	assert_int_equal(test_disk_count(d, "f2fs_inode"),
			 printed(&out, "valid_inode_count matched"));
	assert_true(test_disk_count(d, "f2fs_summary") >=
		    printed(&out, "valid_block_count matching"));
	buf_free(&out);
	/* All nodes, those of the two tables, and a free one. */
	assert_int_equal(test_disk_count(d, "f2fs_nat_entry"),
			 test_disk_count(d, "node_footer") + 3);
	/* Every inode but the root has a name, and one has two; besides, "." and "..". */
	assert_int_equal(test_disk_count(d, "filename"), test_disk_count(d, "f2fs_inode") + 10);
	assert_int_equal(test_disk_value(d, "f2fs_inode.i_size", "/root/large"), 6000000);
	assert_int_equal(test_disk_value(d, "f2fs_inode.i_links", "/root/d/tail"), 2);
	assert_int_equal(test_disk_value(d, "i_addr.addr", "/root/chr"), 259);
	assert_int_equal(test_disk_count(d, "symlink"), 2);
	assert_int_equal(test_disk_count(d, "indirect_node"), 1);
	assert_int_equal(test_disk_count(d, "f2fs_xattr_entry"), 2);
	assert_int_equal(test_disk_count(d, "f2fs_checkpoint"), 4);
}

static void finds_all_structures(void **state)
{
	each(check_structures);
}

/* mkfs leaves entries in the journals of the tables. */
static void a_new_disk_has_journals(void **state)
{
	struct test_disk d;

	if (!test_disk_by(&d, 54 << 20, "mkfs.f2fs -q -f \"$IMAGE\" >/dev/null 2>&1"))
		skip();
	test_disk_walk(&d);
	test_disk_check(&d);
	test_disk_seal_unchanged(&d);
	assert_true(test_disk_count(&d, "nat_journal_entry") > 0);
	assert_true(test_disk_count(&d, "sit_journal_entry") > 0);
	assert_int_equal(test_disk_value(&d, "f2fs_inode.i_mode", "inode 3"), 0040755);
	test_disk_free(&d);
}

static void check_seal(struct test_disk *d)
{
	/* Geometry, and where a checksum is. */
	static const char *const except[] = { "f2fs_super_block.checksum_offset",
					      "f2fs_super_block.log_*",
					      "f2fs_super_block.segment*",
					      "f2fs_checkpoint.checksum_offset",
					      "f2fs_checkpoint.cp_pack_total_block_count",
					      NULL };

	if (!test_disk_count(d, "f2fs_inode_extra"))
		return;
	test_disk_seal_holds(d,
			     "fsck.f2fs --dry-run \"$IMAGE\" 2>&1 | grep -aq 'Invalid SB "
			     "CRC\\|Invalid CP CRC\\|chksum:0x'",
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
		cmocka_unit_test(a_new_disk_has_journals),
		cmocka_unit_test(seals_checksums),
		cmocka_unit_test(a_damaged_disk_is_walked_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
