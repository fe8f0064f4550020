/* test_ondisk_xfs.c -- structures of XFS on disks that a kernel in a process filled, compared with
 * what xfs_db prints; checksums, by xfs_repair. */
#include "tests/harness/ondisk_disk.h"

enum { SMALL_FILES = 60, MANY = 600 };

/* Defaults, then small blocks and all trees. */
static const char *const cases[] = {
	"mkfs.xfs -q -f --unsupported {image}",
	"mkfs.xfs -q -f --unsupported -b size=1024 -m rmapbt=1 {image}",
};

static void fill(struct target *t)
{
	test_disk_content(t, 600000, SMALL_FILES);
	test_disk_unix_content(t);
	test_disk_callf(t, "symlink(\"%0900d\", \"longest\")", 0);
	test_disk_call(t, "setxattr(\"large\", \"user.small\", data(1, 10), 10, 0)");
	for (unsigned i = 0; i < 4; i++)
		test_disk_callf(t, "setxattr(\"d/tail\", \"user.a%u\", data(1, 200), 200, 0)", i);
	test_disk_call(t, "setxattr(\"d/tail\", \"user.remote\", data(1, 9000), 9000, 0)");
	/* Every other block: extents that do not fit into the inode. */
	for (unsigned i = 0; i < 40; i++)
		test_disk_callf(t,
				"write_file(\"holes\", O_CREAT|O_WRONLY, data(1, 4096), 4096, %u)",
				i * 8192);
	test_disk_call(t, "mkdir(\"many\", 0755)");
	for (unsigned i = 0; i < MANY; i++)
		test_disk_callf(t, "mknod(\"many/%060u\", S_IFREG|0600, 0)", i);
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

		if (!test_disk_make(&d, "xfs", cases[i], "32M", fill))
			skip();
		test_disk_walk(&d);
		assert_string_equal(d.map.format->name, "xfs");
		test(&d);
		test_disk_free(&d);
	}
}

/* The sum of the numbers behind " = " that a command of xfs_db prints for all groups. */
static uint64_t printed(const struct test_disk *d, const char *header, const char *field)
{
	struct buf out = BUF_INIT;
	uint64_t groups = test_disk_count(d, "xfs_agf"), sum = 0;

	for (uint64_t i = 0; i < groups; i++) {
		char command[128];

		snprintf(command, sizeof(command), "xfs_db -r -c '%s %u' -c 'p %s' \"$IMAGE\"",
			 header, (unsigned)i, field);
		assert_int_equal(test_disk_tool(d->bytes, d->size, command, &out), 0);
		assert_non_null(strchr(buf_str(&out), '='));
		sum += strtoull(strchr(buf_str(&out), '=') + 1, NULL, 0);
	}
	buf_free(&out);
	return sum;
}

/* Inodes that have a path. */
static size_t named(const struct test_disk *d)
{
	size_t count = 0;

	for (size_t i = 0; i < d->map.count; i++)
		if (strcmp(d->map.instances[i].structure->name, "xfs_dinode") == 0)
			count += strchr(d->map.instances[i].label, '/') != NULL;
	return count;
}

static void check_structures(struct test_disk *d)
{
	size_t unused = 0;

	test_disk_check(d);
	test_disk_check_tables(d->map.format);
	test_disk_seal_unchanged(d);
	for (size_t i = 0; i < d->map.count; i++)
		unused += strstr(d->map.instances[i].label, ", unused") &&
			  strcmp(d->map.instances[i].structure->name, "xfs_dinode") == 0;
	assert_int_equal(printed(d, "agi", "count") - printed(d, "agi", "freecount"),
			 test_disk_count(d, "xfs_dinode") - unused);
	assert_int_equal(printed(d, "agf", "flcount"), test_disk_count(d, "agfl_bno"));
	assert_int_equal(printed(d, "sb", "agcount") / test_disk_count(d, "xfs_agf"),
			 test_disk_count(d, "xfs_dsb"));
	/* All but the bitmap and the summary of the part for real time, and the unused ones. */
	assert_int_equal(named(d), test_disk_count(d, "xfs_dinode") - unused - 2);
	assert_int_equal(test_disk_value(d, "xfs_dinode.di_size", "/large"), 600000);
	assert_int_equal(test_disk_value(d, "xfs_dinode.di_nlink", "/d/e/hard"), 2);
	assert_int_equal(test_disk_value(d, "xfs_dev.rdev", "/chr"), 1 << 18 | 3);
	assert_true(test_disk_count(d, "xfs_dir2_data_entry") >= SMALL_FILES - 1 + MANY);
	assert_true(test_disk_count(d, "xfs_dir2_leaf_entry") >= SMALL_FILES - 1 + MANY);
	assert_int_equal(test_disk_count(d, "xfs_da3_node_hdr"), 1);
	assert_int_equal(test_disk_count(d, "xfs_dir3_free_hdr"), 1);
	assert_int_equal(test_disk_count(d, "xfs_refcount_rec"), 1);
	assert_int_equal(test_disk_count(d, "symlink"), 3);
	assert_int_equal(test_disk_count(d, "xfs_dsymlink_hdr"), 1);
	assert_int_equal(test_disk_count(d, "xfs_attr_leaf_name_local"), 4);
	assert_int_equal(test_disk_count(d, "xfs_attr_leaf_name_remote"), 1);
	assert_int_equal(test_disk_count(d, "xfs_attr_sf_entry"), 1);
	assert_true(test_disk_count(d, "xlog_rec_header") > 2);
}

static void finds_all_structures(void **state)
{
	each(check_structures);
}

static void check_seal(struct test_disk *d)
{
	/* Geometry; xfs_repair does not look at checksums of the log. */
	static const char *const except[] = { "xfs_dsb.sb_blocksize",
					      "xfs_dsb.sb_blocklog",
					      "xfs_dsb.sb_sectsize",
					      "xfs_dsb.sb_sectlog",
					      "xfs_dsb.sb_inodesize",
					      "xfs_dsb.sb_inodelog",
					      "xfs_dsb.sb_inop*",
					      "xfs_dsb.sb_ag*",
					      "xfs_dsb.sb_dirblklog",
					      "xlog_rec_header.h_crc",
					      NULL };

	test_disk_seal_holds(
		d,
		"xfs_repair -n -f -o force_geometry \"$IMAGE\" 2>&1 | "
		"grep -aq 'Metadata CRC error\\|bad CRC for inode\\|bad CRC in superblock'",
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
