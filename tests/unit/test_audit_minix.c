/* test_audit_minix.c -- disks that mkfs.minix made and a kernel in a process filled break no rule
 * of Minix; with one field changed, they break the rule of that field. */
#include "tests/harness/audit_damage.h"
#include "tests/harness/ondisk_disk.h"

enum { LARGE = 600000, SMALL_FILES = 20 };

static const struct minix_variant {
	const char *name, *mkfs;
} variants[] = {
	{ "V1", "mkfs.minix -1 -n 14 {image}" },
	{ "V2", "mkfs.minix -2 -n 30 {image}" },
	{ "V3", "mkfs.minix -3 {image}" },
};

static struct test_disk disks[ARRAY_LEN(variants)];

static void fill(struct target *t)
{
	test_disk_content(t, LARGE, SMALL_FILES);
	test_disk_unix_content(t);
}

static bool have_disks(void)
{
	for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
		if (disks[i].bytes)
			continue;
		if (!test_disk_make(&disks[i], "minix", variants[i].mkfs, "1M", fill))
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

/* An empty one, without a kernel. */
static void a_disk_of_mkfs_breaks_no_rule(void **state)
{
	struct test_disk d;

	if (!test_disk_by(&d, 1 << 20, "mkfs.minix -3 \"$IMAGE\" >/dev/null"))
		skip();
	audit_finds_nothing(d.bytes, d.size, "mkfs");
	test_disk_free(&d);
}

static const struct audit_damage damages[] = {
	{ "V1", "minix_super_block.s_state", "", 2,
	  "the superblock does not say that the disk is clean" },
	{ "V2", "minix_super_block.s_state", "", 0,
	  "the superblock does not say that the disk is clean" },
	{ "V3", "imap.bits", "", 0xfe, "the first bit of a bitmap is not set" },
	{ "V3", "imap.bits", "", 1, "an inode in use is free in the bitmap" },
	{ "V3", "imap_edge.bits", "", 0xff, "an inode that has no name is not free in the bitmap" },
	{ "V1", "zmap.bits", "", 1, "a zone in use is free in the bitmap" },
	{ "V2", "minix2_inode.i_zone[0]", "/large", 0,
	  "a zone that is not in use is not free in the bitmap" },
	{ "V1", "minix_inode.i_nlinks", "/large", 2, "the number of links is not that of names" },
	{ "V3", "minix2_inode.i_nlinks", "/d", 9, "the number of links is not that of names" },
	{ "V3", "minix2_inode.i_nlinks", "/large", 0, "the number of links is not that of names" },
	{ "V3", "minix2_inode.i_mode", "/fifo", 0644, "an inode in use has no type" },
	{ "V3", "minix2_inode.i_size", "/d", 65,
	  "the size of a directory is no multiple of an entry's" },
	{ "V3", "minix2_inode.i_size", "/d/e", 0,
	  "a directory does not begin with \".\" and \"..\"" },
	{ "V3", "minix2_inode.i_zone[0]", "/large", 1,
	  "a zone number lies outside of the file system" },
	{ "V1", "minix_inode.i_zone[0]", "/large", 0xffff,
	  "a zone number lies outside of the file system" },
	{ "V2", "minix2_indirect.zone", "", 0xffffff,
	  "a zone number lies outside of the file system" },
	{ "V3", "minix3_dir_entry.inode", "/large", 0x10000,
	  "an entry leads to an inode that there is not" },
	{ "V3", "minix3_dir_entry.inode", "/d/e/.", 0,
	  "a directory does not begin with \".\" and \"..\"" },
	{ "V3", "minix3_dir_entry.inode", "/d/e/..", 1,
	  "a directory does not begin with \".\" and \"..\"" },
	{ "V3", "minix3_dir_entry.inode", "/large", 1, "a directory has two names" },
	{ "V3", "minix3_dir_entry.name", "/large", '/',
	  "a name has a character that it cannot have" },
	{ "V3", "minix3_dir_entry.name", "/large", 0,
	  "a name has a character that it cannot have" },
	{ "V3", "minix3_super_block.s_ninodes", "", 0xffffffff, NULL },
	{ "V3", "minix3_super_block.s_zones", "", 0xffffffff, NULL },
	{ "V3", "minix3_super_block.s_firstdatazone", "", 0xffff, NULL },
	{ "V3", "minix3_super_block.s_blocksize", "", 0, NULL },
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

/* Of two fields: both files get the same zone, or the same name. */
static void two_files_do_not_share(void **state)
{
	static const struct audit_damage zone = { "V3", "minix2_inode.i_zone[0]", "/large", 0, "" };
	static const struct audit_damage other = { "V3", "minix2_inode.i_zone[0]", "/d/small0", 0,
						   "" };
	static const struct audit_damage name = { "V3", "minix3_dir_entry.name", "/d/small2", 0,
						  "" };
	const struct test_disk *d = &disks[ARRAY_LEN(variants) - 1];
	const struct ondisk_field *field;
	const struct ondisk_instance *x;
	struct audit_damage same;

	if (!have_disks())
		skip();
	x = audit_find(&d->map, &other, &field);
	same = zone;
	same.value = ondisk_le(d->bytes + x->at + field->offset, 4);
	same.rule = "a zone is used twice";
	audit_try_damage(&d->map, d->bytes, &same);
	/* small2 becomes small3: the sixth byte of the name */
	x = audit_find(&d->map, &name, &field);
	d->bytes[x->at + field->offset + 5]++;
	same = zone;
	same.value = 0;
	same.rule = "a directory has a name twice";
	audit_try_damage(&d->map, d->bytes, &same);
	d->bytes[x->at + field->offset + 5]--;
}

static void any_disk_is_audited(void **state)
{
	struct rng rng;

	if (!have_disks())
		skip();
	rng_seed(&rng, 1);
	for (size_t i = 0; i < ARRAY_LEN(variants); i++)
		audit_any(&disks[i].map, disks[i].bytes, &rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_of_mkfs_breaks_no_rule),
		cmocka_unit_test(disks_of_a_kernel_break_no_rule),
		cmocka_unit_test(a_changed_field_breaks_its_rule),
		cmocka_unit_test(two_files_do_not_share),
		cmocka_unit_test(any_disk_is_audited),
	};

	return cmocka_run_group_tests(tests, NULL, free_disks);
}
