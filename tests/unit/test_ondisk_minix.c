/* test_ondisk_minix.c -- structures of Minix V1, V2 and V3 on disks that a kernel in a process
 * filled. */
#include "tests/harness/ondisk_disk.h"

struct minix_case {
	const char *mkfs;
	uint64_t magic;
	const char *super, *inode, *indirect, *entry;
	unsigned pointers; /* in an indirect block */
	unsigned direct;
	unsigned large; /* bytes of the large file */
};

enum { SMALL_FILES = 20, MINIX_BLOCK = 1024 };

static const struct minix_case cases[] = {
	{ "mkfs.minix -1 -n 14 {image}", 0x137f, "minix_super_block", "minix_inode",
	  "minix_indirect", "minix_dir_entry", 512, 7, 600000 },
	{ "mkfs.minix -1 -n 30 {image}", 0x138f, "minix_super_block", "minix_inode",
	  "minix_indirect", "minix_dir_entry", 512, 7, 600000 },
	{ "mkfs.minix -2 -n 14 {image}", 0x2468, "minix_super_block", "minix2_inode",
	  "minix2_indirect", "minix_dir_entry", 256, 7, 600000 },
	{ "mkfs.minix -2 -n 30 {image}", 0x2478, "minix_super_block", "minix2_inode",
	  "minix2_indirect", "minix_dir_entry", 256, 7, 600000 },
	{ "mkfs.minix -3 {image}", 0x4d5a, "minix3_super_block", "minix2_inode", "minix2_indirect",
	  "minix3_dir_entry", 256, 7, 600000 },
};

static void fill(struct target *t)
{
	test_disk_content(t, 600000, SMALL_FILES);
	test_disk_unix_content(t);
}

static bool disk_of(struct test_disk *d, const struct minix_case *c)
{
	if (!test_disk_make(d, "minix", c->mkfs, "1M", fill))
		return false;
	test_disk_walk(d);
	assert_string_equal(d->map.format->name, "minix");
	return true;
}

static void each(void (*test)(struct test_disk *, const struct minix_case *))
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct test_disk d;

		if (!disk_of(&d, &cases[i]))
			skip();
		test(&d, &cases[i]);
		test_disk_free(&d);
	}
}

static uint64_t field_of(const struct test_disk *d, const char *structure, const char *field,
			 const char *label)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", structure, field);
	return test_disk_value(d, name, label);
}

/* Pointers that the large file needs: to content, and to the blocks of a double-indirect one. */
static size_t pointers_expected(const struct minix_case *c)
{
	size_t blocks = (c->large + MINIX_BLOCK - 1) / MINIX_BLOCK - c->direct;
	size_t behind = blocks - c->pointers;

	/* and one behind the last of each indirect block that is not full */
	return blocks + (behind + c->pointers - 1) / c->pointers + 2;
}

static void check_structures(struct test_disk *d, const struct minix_case *c)
{
	test_disk_check(d);
	test_disk_check_tables(d->map.format);
	assert_int_equal(field_of(d, c->super, "s_magic", "superblock"), c->magic);
	/* The root and the directory in it that calls are made in, d, e, large, tail, small files
	 * but one, two symbolic links, four nodes; one that is unused. */
	assert_int_equal(test_disk_count(d, c->inode), 6 + SMALL_FILES - 1 + 2 + 4 + 1);
	assert_int_equal(test_disk_count(d, c->indirect), pointers_expected(c));
	assert_int_equal(test_disk_count(d, "symlink"), 2);
	/* "." and ".." of four directories, the second one of them, what is in that (8) and in its
	 * d (the small files, one of them removed, and two more), and the link. */
	assert_int_equal(test_disk_count(d, c->entry), 8 + 1 + 8 + 2 + SMALL_FILES + 1);
	assert_int_equal(field_of(d, c->inode, "i_size", "/large"), c->large);
	assert_int_equal(field_of(d, c->inode, "i_mode", "/d/e"), 0040700);
	assert_int_equal(field_of(d, c->inode, "i_nlinks", "/d/e/hard"), 2);
	assert_int_equal(field_of(d, c->inode, "i_zone[0]", "/chr"), 259);
	assert_int_equal(field_of(d, c->inode, "i_mode", "unused"), 0);
	assert_int_equal(field_of(d, c->entry, "inode", "unused entry"), 0);
}

static void finds_all_structures(void **state)
{
	each(check_structures);
}

/* The bitmaps as fsck.minix counts them, and the names it lists. */
static void check_tool(struct test_disk *d, const struct minix_case *c)
{
	struct buf out = BUF_INIT;
	unsigned inodes = 0, zones = 0;
	char *line;

	assert_int_equal(test_disk_tool(d->bytes, d->size, "fsck.minix -fvl \"$IMAGE\"", &out), 0);
	line = strstr(out.data, " inodes used");
	assert_non_null(line);
	while (line > out.data && line[-1] != '\n')
		line--;
	assert_int_equal(sscanf(line, "%u inodes used", &inodes), 1);
	assert_int_equal(inodes, test_disk_count(d, c->inode) - 1);
	line = strstr(out.data, " zones used");
	assert_non_null(line);
	while (line > out.data && line[-1] != '\n')
		line--;
	assert_int_equal(sscanf(line, "%u zones used", &zones), 1);
	assert_true(zones > pointers_expected(c));
	buf_free(&out);
}

static void agrees_with_fsck(void **state)
{
	each(check_tool);
}

/* A corrupted pointer of an inode is what fsck.minix complains about. */
static void check_corruption(struct test_disk *d, const struct minix_case *c)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.i_zone[1]", c->inode);
	test_disk_corrupt(d, name, "/large", 0xee);
	assert_true(test_disk_tool(d->bytes, d->size, "fsck.minix -f \"$IMAGE\" 2>&1", NULL) != 0);
}

static void fields_are_what_the_checker_reads(void **state)
{
	each(check_corruption);
}

static void check_damage(struct test_disk *d, const struct minix_case *c)
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
		cmocka_unit_test(agrees_with_fsck),
		cmocka_unit_test(fields_are_what_the_checker_reads),
		cmocka_unit_test(a_damaged_disk_is_walked_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
