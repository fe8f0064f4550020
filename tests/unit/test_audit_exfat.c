/* test_audit_exfat.c -- disks that mkfs.exfat made and a kernel in a process filled break no rule
 * of exFAT; with one field changed, they break the rule of that field. */
#include "audit/exfat_names.h"
#include "tests/harness/audit_damage.h"
#include "tests/harness/ondisk_disk.h"

enum { LARGE = 100000, SMALL_FILES = 30 };

static struct test_disk disk;

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
	test_disk_call(t, "write_file(\"empty\", O_CREAT|O_WRONLY, data(9, 0), 0, 0)");
}

static bool have_disk(void)
{
	if (disk.bytes)
		return true;
	if (!test_disk_make(&disk, "exfat", "mkfs.exfat -c 4096 -L label {image}", "4M", fill))
		return false;
	test_disk_walk(&disk);
	return true;
}

static int free_disk(void **state)
{
	test_disk_free(&disk);
	return 0;
}

static void disks_of_a_kernel_break_no_rule(void **state)
{
	if (!have_disk())
		skip();
	audit_finds_nothing(disk.bytes, disk.size, "exfat");
}

static const struct audit_damage damages[] = {
	{ "", "fat_entry.entry", "/root/a", 0, "a chain leads to a cluster that there is not" },
	{ "", "fat_entry.entry", "/root/a", 2, "a cluster is used twice" },
	{ "", "fat_entry.entry", "/root/a", 0xffffffff,
	  "the size of a file does not fit its clusters" },
	{ "", "allocation_bitmap.bits", "", 0, "a cluster in use is free in the bitmap" },
	{ "", "allocation_bitmap_edge.bits", "", 0xff,
	  "a cluster that is not in use is not free in the bitmap" },
	{ "", "exfat_dentry_stream.size", "/root/large", 1,
	  "a cluster that is not in use is not free in the bitmap" },
	{ "", "exfat_dentry_stream.size", "/root/a", 1,
	  "the size of a file does not fit its clusters" },
	{ "", "exfat_dentry_stream.size", "/root/large", 1, "the valid size of a file cannot be" },
	{ "", "exfat_dentry_stream.valid_size", "/root/large", 0xffffff,
	  "the valid size of a file cannot be" },
	{ "", "exfat_dentry_stream.size", "/root/d", 1, "the valid size of a file cannot be" },
	{ "", "exfat_dentry_stream.start_clu", "/root/large", 3, "a cluster is used twice" },
	{ "", "exfat_dentry_stream.start_clu", "/root/large", 0,
	  "the size of a file does not fit its clusters" },
	{ "", "exfat_dentry_stream.name_hash", "/root/large", 1, "the hash of a name is wrong" },
	{ "", "exfat_dentry_stream.name_len", "/root/large", 16,
	  "the length of a name does not fit its entries" },
	{ "", "exfat_dentry_name.unicode_0_14", "/root/large", '/',
	  "a name has a character that it cannot have" },
	{ "", "exfat_dentry_name.unicode_0_14", "/root/a", 'b', "a directory has a name twice" },
	{ "", "exfat_dentry_name.unicode_0_14", "/root/a", 'B', "a directory has a name twice" },
	{ "", "exfat_dentry_file.num_ext", "/root/large", 1, "entries of a file cannot be" },
	{ "", "exfat_dentry_file.num_ext", "/root/large", 3, "entries of a file are missing" },
	{ "", "exfat_dentry_stream.type", "/root/large", 0xc1, "entries of a file cannot be" },
	{ "", "exfat_dentry_bitmap.size", "", 1,
	  "the bitmap or the table of characters cannot be" },
	{ "", "exfat_dentry_bitmap.type", "", 1,
	  "the bitmap or the table of characters is missing" },
	{ "", "exfat_dentry_label.char_cnt", "", 12, "the label is too long" },
	{ "", "boot_sector.vol_flags", "boot region", 2,
	  "the boot sector does not say that the disk is clean" },
	{ "", "boot_sector.vol_serial", "backup", 2,
	  "the backup of the boot sector differs from it" },
	{ "", "boot_sector.vol_serial", "backup", 2, "a checksum is wrong" },
	{ "", "boot_sector.clu_count", "", 0xffffffff, NULL },
	{ "", "boot_sector.root_cluster", "", 1, NULL },
};

static void a_changed_field_breaks_its_rule(void **state)
{
	if (!have_disk())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(damages); i++)
		audit_try_damage(&disk.map, disk.bytes, &damages[i]);
}

static void any_disk_is_audited(void **state)
{
	struct rng rng;

	if (!have_disk())
		skip();
	rng_seed(&rng, 1);
	audit_any(&disk.map, disk.bytes, &rng);
}

/* 0xffff and a number: so many characters that are the same. */
static void tables_of_characters_are_compressed(void **state)
{
	static const uint8_t table[] = {
		0xff, 0xff, 'a', 0, 'A', 0, 'B', 0, 0xff, 0xff, 0x9d, 0xff
	};
	uint8_t name[] = { 'a', 0, 'b', 0, 'c', 0, 'a', 1 };
	static const uint8_t upper[] = { 'A', 0, 'B', 0, 'c', 0, 'a', 1 };
	struct exfat_upcase u = { 0 };

	exfat_upcase_read(&u, table, sizeof(table));
	exfat_name_fold(&u, name, 4);
	assert_memory_equal(name, upper, sizeof(upper));
	exfat_upcase_free(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(disks_of_a_kernel_break_no_rule),
		cmocka_unit_test(a_changed_field_breaks_its_rule),
		cmocka_unit_test(any_disk_is_audited),
		cmocka_unit_test(tables_of_characters_are_compressed),
	};

	return cmocka_run_group_tests(tests, NULL, free_disk);
}
