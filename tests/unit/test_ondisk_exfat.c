/* test_ondisk_exfat.c -- structures of exFAT on disks that a kernel in a process filled; checksums,
 * by fsck.exfat. */
#include "tests/harness/ondisk_disk.h"

enum { SMALL_FILES = 60, LARGE = 100000 };

static void fill(struct target *t)
{
	test_disk_content(t, LARGE, SMALL_FILES);
	/* In turn, so that neither has its clusters one behind the other. */
	for (unsigned i = 0; i < 3; i++) {
		test_disk_callf(t, "write_file(\"a\", O_CREAT|O_WRONLY, data(1, 4096), 4096, %u)",
				i * 4096);
		test_disk_callf(t, "write_file(\"b\", O_CREAT|O_WRONLY, data(1, 4096), 4096, %u)",
				i * 4096);
	}
	test_disk_call(t, "write_file(\"a name of more than fifteen characters\", "
			  "O_CREAT|O_WRONLY, data(9, 10), 10, 0)");
}

static bool disk_of(struct test_disk *d)
{
	if (!test_disk_make(d, "exfat", "mkfs.exfat -c 4096 -L label {image}", "4M", fill))
		return false;
	test_disk_walk(d);
	assert_string_equal(d->map.format->name, "exfat");
	return true;
}

static void finds_all_structures(void **state)
{
	struct buf out = BUF_INIT;
	unsigned directories, files;
	struct test_disk d;
	const char *line;

	if (!disk_of(&d))
		skip();
	test_disk_check(&d);
	test_disk_check_tables(d.map.format);
	test_disk_seal_unchanged(&d);
	assert_int_equal(test_disk_tool(d.bytes, d.size, "fsck.exfat -n \"$IMAGE\" 2>&1", &out), 0);
	/* The root is a directory without entries for itself. */
	line = strstr(buf_str(&out), "directories");
	assert_non_null(line);
	assert_int_equal(sscanf(line, "directories %u, files %u", &directories, &files), 2);
	assert_int_equal(test_disk_count(&d, "exfat_dentry_file"), directories + files - 1);
	assert_int_equal(test_disk_count(&d, "exfat_dentry_stream"), directories + files - 1);
	buf_free(&out);
	assert_int_equal(test_disk_count(&d, "boot_sector"), 2);
	assert_int_equal(test_disk_count(&d, "boot_checksum"), 2);
	assert_int_equal(test_disk_count(&d, "upcase_table"), 1);
	assert_int_equal(test_disk_count(&d, "exfat_dentry_label"), 1);
	/* Two of the table, bitmap, upper-case table, root, and those of the two files. */
	assert_true(test_disk_count(&d, "fat_entry") >= 5 + 6);
	assert_int_equal(test_disk_value(&d, "exfat_dentry_stream.size", "/root/large"), LARGE);
	assert_int_equal(test_disk_value(&d, "exfat_dentry_file.num_ext", "/root/a name of"), 4);
	assert_int_equal(test_disk_value(&d, "exfat_dentry_file.attr", "/root/d"), 0x10);
	test_disk_free(&d);
}

static void seals_checksums(void **state)
{
	/* Geometry. */
	static const char *const except[] = { "boot_sector.sect*", NULL };
	struct test_disk d;

	if (!disk_of(&d))
		skip();
	test_disk_seal_holds(&d,
			     "fsck.exfat -n \"$IMAGE\" 2>&1 | grep -aq 'checksum\\|corrupted "
			     "upcase table'",
			     except);
	test_disk_free(&d);
}

static void a_damaged_disk_is_walked_within_bounds(void **state)
{
	struct test_disk d;

	if (!disk_of(&d))
		skip();
	test_disk_damage(&d);
	test_disk_cut(&d);
	test_disk_free(&d);
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
