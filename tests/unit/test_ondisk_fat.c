/* test_ondisk_fat.c -- structures of FAT12, FAT16 and FAT32 on disks that a kernel in a process
 * filled. */
#include "tests/harness/ondisk_disk.h"

struct fat_case {
	const char *mkfs, *size;
	const char *entries[2]; /* of the tables */
};

enum { SMALL_FILES = 30, LARGE = 100000 };

static const struct fat_case cases[] = {
	{ "mkfs.fat -F 12 -s 1 {image}", "1M", { "fat12_even", "fat12_odd" } },
	{ "mkfs.fat -F 16 -s 1 {image}", "4M", { "fat16", NULL } },
	{ "mkfs.fat -F 32 -s 1 {image}", "40M", { "fat32", NULL } },
};

static void fill(struct target *t)
{
	test_disk_content(t, LARGE, SMALL_FILES);
	test_disk_call(t, "write_file(\"a name of more than thirteen characters\", "
			  "O_CREAT|O_WRONLY, data(9, 10), 10, 0)");
}

static void each(void (*test)(struct test_disk *, const struct fat_case *))
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct test_disk d;

		if (!test_disk_make(&d, "vfat", cases[i].mkfs, cases[i].size, fill))
			skip();
		test_disk_walk(&d);
		assert_string_equal(d.map.format->name, "fat");
		test(&d, &cases[i]);
		test_disk_free(&d);
	}
}

/* Clusters of one sector: of files, and of directories by how many entries they have. */
static size_t clusters_in_use(const struct test_disk *d)
{
	struct buf out = BUF_INIT;
	unsigned files, used, all;
	char *line;

	assert_int_equal(test_disk_tool(d->bytes, d->size, "fsck.fat -n \"$IMAGE\"", &out), 0);
	line = strstr(out.data, " files, ");
	assert_non_null(line);
	while (line > out.data && line[-1] != '\n' && line[-1] != ' ')
		line--;
	assert_int_equal(sscanf(line, "%u files, %u/%u clusters", &files, &used, &all), 3);
	buf_free(&out);
	return used;
}

static void check_structures(struct test_disk *d, const struct fat_case *c)
{
	size_t entries = 0;
	bool third = strcmp(c->entries[0], "fat32") == 0;

	test_disk_check(d);
	test_disk_check_tables(d->map.format);
	assert_int_equal(test_disk_count(d, "fat_boot_sector"), third ? 2 : 1);
	assert_int_equal(test_disk_count(d, "fat_boot_sector32"), third ? 2 : 0);
	assert_int_equal(test_disk_count(d, "fat_boot_sector16"), third ? 0 : 1);
	assert_int_equal(test_disk_count(d, "fat_boot_fsinfo"), third ? 2 : 0);
	for (unsigned i = 0; i < 2; i++)
		if (c->entries[i])
			entries += test_disk_count(d, c->entries[i]);
	/* the first two and a free one besides, in both tables */
	assert_int_equal(entries, 2 * (clusters_in_use(d) + 3));
	assert_int_equal(test_disk_value(d, "msdos_dir_entry.size", "/large"), LARGE);
	assert_int_equal(test_disk_value(d, "msdos_dir_entry.size", "/d/tail"), 100);
	assert_int_equal(test_disk_value(d, "msdos_dir_entry.attr", "/d"), 0x10);
	assert_int_equal(test_disk_value(d, "msdos_dir_entry.size", "/a name of more than"), 10);
	assert_int_equal(test_disk_value(d, "msdos_dir_slot.id", "/a name of more than"), 0x43);
	assert_int_equal(test_disk_value(d, "msdos_dir_slot.attr", "/a name of more than"), 0x0f);
	test_disk_find(d, "msdos_dir_entry.name", "deleted", &(const struct ondisk_field *){ 0 });
}

static void finds_all_structures(void **state)
{
	each(check_structures);
}

static void check_seal(struct test_disk *d, const struct fat_case *c)
{
	struct buf out = BUF_INIT;
	uint64_t sum = test_disk_value(d, "msdos_dir_slot.alias_checksum", "/d/small2");

	test_disk_seal_unchanged(d);
	test_disk_corrupt(d, "msdos_dir_entry.name", "/d/small2", 'X');
	assert_int_not_equal(test_disk_value(d, "msdos_dir_slot.alias_checksum", "/d/small2"), sum);
	test_disk_tool(d->bytes, d->size, "fsck.fat -nv \"$IMAGE\"", &out);
	assert_null(strstr(out.data, "hecksum"));
	assert_null(strstr(out.data, "Orphaned long"));
	test_disk_corrupt(d, "msdos_dir_slot.alias_checksum", "/d/small2", 0x5a);
	assert_int_equal(test_disk_value(d, "msdos_dir_slot.alias_checksum", "/d/small2"), 0x5a);
	test_disk_tool(d->bytes, d->size, "fsck.fat -nv \"$IMAGE\"", &out);
	assert_non_null(strstr(out.data, "hecksum"));
	buf_free(&out);
}

static void seals_short_names(void **state)
{
	each(check_seal);
}

/* What a field is called is what the checker reads it as. */
static void check_corruption(struct test_disk *d, const struct fat_case *c)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.entry", c->entries[0]);
	test_disk_corrupt(d, name, "/large", 0x11);
	assert_int_not_equal(test_disk_tool(d->bytes, d->size, "fsck.fat -n \"$IMAGE\"", NULL), 0);
}

static void fields_are_what_the_checker_reads(void **state)
{
	each(check_corruption);
}

static void check_damage(struct test_disk *d, const struct fat_case *c)
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
		cmocka_unit_test(seals_short_names),
		cmocka_unit_test(fields_are_what_the_checker_reads),
		cmocka_unit_test(a_damaged_disk_is_walked_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
