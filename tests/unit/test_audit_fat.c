/* test_audit_fat.c -- disks that mkfs.fat made and a kernel in a process filled break no rule of
 * FAT; with one field changed, they break the rule of that field. */
#include "tests/harness/audit_damage.h"
#include "tests/harness/ondisk_disk.h"

enum { LARGE = 100000, SMALL_FILES = 30 };

static const struct fat_variant {
	const char *name, *mkfs, *size;
} variants[] = {
	{ "FAT12", "mkfs.fat -F 12 -s 1 {image}", "1M" },
	{ "FAT16", "mkfs.fat -F 16 -s 1 {image}", "4M" },
	{ "FAT32", "mkfs.fat -F 32 -s 1 {image}", "40M" },
};

static struct test_disk disks[ARRAY_LEN(variants)];

static void fill(struct target *t)
{
	test_disk_content(t, LARGE, SMALL_FILES);
	test_disk_call(t, "write_file(\"a name of more than thirteen characters\", "
			  "O_CREAT|O_WRONLY, data(9, 10), 10, 0)");
	test_disk_call(t, "write_file(\"empty\", O_CREAT|O_WRONLY, data(9, 0), 0, 0)");
}

static bool have_disks(void)
{
	for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
		if (disks[i].bytes)
			continue;
		if (!test_disk_make(&disks[i], "vfat", variants[i].mkfs, variants[i].size, fill))
			return false;
		test_disk_walk(&disks[i]);
	}
	return true;
}

static int free_disks(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(variants); i++)
		test_disk_free(&disks[i]);
	return 0;
}

static void disks_of_a_kernel_break_no_rule(void **state)
{
	if (!have_disks())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(variants); i++)
		audit_finds_nothing(disks[i].bytes, disks[i].size, variants[i].name);
}

static const struct audit_damage damages[] = {
	{ "FAT16", "fat16.entry", "FAT 1[3]", 3, "a cluster is used twice" },
	{ "FAT16", "fat16.entry", "FAT 1[3]", 0, "a chain has a cluster that is free" },
	{ "FAT16", "fat16.entry", "FAT 1[3]", 0xfff0,
	  "a chain leads to a cluster that there is not" },
	{ "FAT32", "fat32.entry", "FAT 1[3]", 1, "a chain leads to a cluster that there is not" },
	{ "FAT16", "fat16.entry", ", free", 0xffff, "a cluster in use belongs to no file" },
	{ "FAT12", "fat12_even.entry", "FAT 2[", 0x123, "the allocation tables differ" },
	{ "FAT32", "fat32.entry", "FAT 2[3]", 1, "the allocation tables differ" },
	{ "FAT12", "msdos_dir_entry.size", "/large", 1,
	  "the size of a file does not fit its clusters" },
	{ "FAT16", "msdos_dir_entry.size", "/d", 1, "a directory has a size" },
	{ "FAT32", "msdos_dir_entry.size", "/large", 1000000,
	  "the size of a file does not fit its clusters" },
	{ "FAT16", "msdos_dir_entry.size", "/empty", 1,
	  "the size of a file does not fit its clusters" },
	{ "FAT16", "msdos_dir_entry.start", "/large", 0,
	  "the size of a file does not fit its clusters" },
	{ "FAT16", "msdos_dir_entry.start", "/large", 0, "a cluster in use belongs to no file" },
	{ "FAT16", "msdos_dir_entry.start", "/d", 0, "a directory has no cluster" },
	{ "FAT16", "msdos_dir_entry.start", "/d/.", 0,
	  "a directory does not begin with \".\" and \"..\"" },
	{ "FAT32", "msdos_dir_entry.start", "/d/e/..", 0,
	  "a directory does not begin with \".\" and \"..\"" },
	{ "FAT16", "msdos_dir_entry.name", "/d/..", 'A',
	  "a directory does not begin with \".\" and \"..\"" },
	{ "FAT32", "fat_boot_fsinfo.free_clusters", "", 7, "the number of free clusters is wrong" },
	{ "FAT32", "fat_boot_fsinfo.free_clusters", "", 0xffffffff, NULL },
	{ "FAT16", "fat_boot_sector16.state", "", 1, "the disk is marked as in use" },
	{ "FAT32", "fat_boot_sector32.state", "", 1, "the disk is marked as in use" },
	{ "FAT32", "fat_boot_sector32.state", "", 0x80, NULL },
	{ "FAT32", "fat_boot_sector32.root_cluster", "", 0,
	  "a chain leads to a cluster that there is not" },
	{ "FAT32", "fat_boot_sector32.info_sector", "", 0xfffe, NULL },
	{ "FAT16", "fat_boot_sector.fats", "", 0xff, NULL },
	{ "FAT16", "fat_boot_sector.sec_per_clus", "", 128, NULL },
};

static void a_changed_field_breaks_its_rule(void **state)
{
	if (!have_disks())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(damages); i++)
		for (size_t k = 0; k < ARRAY_LEN(variants); k++)
			if (!strcmp(variants[k].name, damages[i].variant))
				audit_try_damage(&disks[k].map, disks[k].bytes, &damages[i]);
}

/* LARGE becomes the name of the long one, byte by byte. */
static void short_names_are_not_twice(void **state)
{
	static const struct audit_damage from = { "FAT16", "msdos_dir_entry.name", "/large", 0,
						  "" };
	static const struct audit_damage to = { "FAT16", "msdos_dir_entry.name", "/empty", 0, "" };
	const struct ondisk_field *field;
	struct test_disk *d = &disks[1];
	struct audit a;

	if (!have_disks())
		skip();
	memcpy(d->bytes + audit_find(&d->map, &to, &field)->at,
	       d->bytes + audit_find(&d->map, &from, &field)->at, 11);
	audit_disk(&a, d->bytes, d->size);
	assert_true(audit_has(&a, "a directory has a short name twice"));
	memcpy(d->bytes + audit_find(&d->map, &to, &field)->at, "EMPTY      ", 11);
}

static void any_disk_is_audited(void **state)
{
	struct rng rng;

	if (!have_disks())
		skip();
	rng_seed(&rng, 1);
	for (size_t i = 0; i < 2; i++) /* copies of the large one take long */
		audit_any(&disks[i].map, disks[i].bytes, &rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disks_of_a_kernel_break_no_rule),
		cmocka_unit_test(a_changed_field_breaks_its_rule),
		cmocka_unit_test(short_names_are_not_twice),
		cmocka_unit_test(any_disk_is_audited),
	};

	return cmocka_run_group_tests(tests, NULL, free_disks);
}
