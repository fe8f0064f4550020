/* test_group_daemon.c -- which discrepancies of FUSE daemons have one cause. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "judge/group.h"
#include "tests/harness/unit.h"

#define SIZE(rows) (sizeof(rows) / sizeof(*(rows)))

static void set_signature(struct discrepancy *d, const char *signature)
{
	discrepancy_init(d);
	snprintf(d->signature, sizeof(d->signature), "%s", signature);
	d->code = problem_of_signature(signature);
}

static void expect_group(struct discrepancy *d, struct fact *fact, const char *group)
{
	char is[SIGNATURE_MAX];

	d->facts = fact;
	d->fact_count = 1;
	group_of(d, is);
	assert_string_equal(is, group);
	discrepancy_free(d);
}

/* A daemon that does not act as the caller, or keeps a group to itself, does so for all it makes.
 */
static void owners_of_new_objects_are_one_group(void **state)
{
	static const struct {
		const char *signature, *group;
		enum op op;
	} rows[] = {
		{ "TREE open owner", "owner of new objects", OP_create_file },
		{ "TREE write owner", "owner of new objects", OP_write_file },
		{ "TREE mkdir owner (directory)", "owner of new objects", OP_mkdir },
		{ "TREE symlink owner", "owner of new objects", OP_symlink },
		{ "TREE mkdir owner (elsewhere)", "owner of files", OP_mkdir },
		{ "TREE chown owner (directory)", "owner that chown sets", OP_chown },
		{ "TREE rename owner", "owner of files", OP_rename },
	};
	struct fact fact = { .kind = FACT_OWNER, .path = "/a", .nlink = 1 };
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		d.call.op = (uint16_t)rows[i].op;
		expect_group(&d, &fact, rows[i].group);
	}
}

/* The kernel asks for what it is to know of a name that it has just made. */
static void a_new_name_is_not_stale(void **state)
{
	struct fact fact = { .kind = FACT_OWNER, .path = "/a", .mode = S_IFREG, .nlink = 2 };
	struct discrepancy d;

	for (int i = 0; i < 3; i++) {
		set_signature(&d, "TREE link owner");
		d.is_cached = true;
		d.call.op = OP_link;
		d.call.link.from = (struct arg){ .text = "b", .len = 1 };
		d.call.link.to = (struct arg){ .text = "a", .len = 1 };
		fact.path = i == 1 ? "/b" : "/a";
		fact.by_name = i == 2;
		expect_group(&d, &fact,
			     i ? "files with several names, cached by each name"
			       : "owner of files");
	}
}

/* A link count that was cached by another name is that of names that are gone. */
static void a_lost_name_is_counted_by_the_others(void **state)
{
	struct fact fact = { .kind = FACT_NLINK, .path = "/a", .mode = S_IFREG, .nlink = 1 };
	struct discrepancy d;

	for (int i = 0; i < 2; i++) {
		set_signature(&d, "TREE unlink nlink (too large, elsewhere)");
		d.is_cached = !i;
		d.call.op = OP_unlink;
		expect_group(&d, &fact,
			     i ? "nlink of files, too large"
			       : "files with several names, cached by each name");
	}
}

/* One wrong entry in a cache of names, whichever call asks for the name. */
static void names_are_looked_up_alike(void **state)
{
	static const struct {
		const char *signature, *group;
		enum op op;
		bool is_cached;
	} rows[] = {
		{ "OUTCOME mkdir EEXIST for success", "EEXIST for a name that is free", OP_mkdir,
		  true },
		{ "OUTCOME link EEXIST for success", "EEXIST for a name that is free", OP_link,
		  true },
		{ "OUTCOME stat ENOENT for success", "ENOENT for a name that is there", OP_lstat,
		  true },
		{ "OUTCOME mkdir ENOENT for success", "ENOENT for a name that is there", OP_mkdir,
		  true },
		{ "OUTCOME rename ENOENT for success", "OUTCOME rename ENOENT for success",
		  OP_rename, true },
		{ "OUTCOME mkdir EEXIST for success", "OUTCOME mkdir EEXIST for success", OP_mkdir,
		  false },
		/* By an open file, which is not a matter of writing back. */
		{ "OUTCOME fsync ENOENT for success", "ENOENT through a descriptor", OP_fsync,
		  true },
		/* Buffers of the daemon are too short for paths, whatever is done by them. */
		{ "OUTCOME mkdir ENAMETOOLONG for success",
		  "ENAMETOOLONG for names and paths of allowed length", OP_mkdir, true },
		{ "OUTCOME write ENAMETOOLONG for ENOENT",
		  "ENAMETOOLONG for names and paths of allowed length", OP_write_file, true },
	};
	char group[SIGNATURE_MAX];
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		set_signature(&d, rows[i].signature);
		d.call.op = (uint16_t)rows[i].op;
		d.is_cached = rows[i].is_cached;
		group_of(&d, group);
		assert_string_equal(group, rows[i].group);
		discrepancy_free(&d);
	}
}

static void hidden_names_are_one_group(void **state)
{
	struct fact fact = { .kind = FACT_EXTRA, .path = "/d/.fuse_hidden0000001e00000001" };
	struct discrepancy d;

	for (int i = 0; i < 2; i++) {
		set_signature(&d, i ? "TREE truncate extra" : "TREE mkdir extra (elsewhere)");
		d.is_cached = true;
		expect_group(&d, &fact, "removed files that are open have another name");
	}
}

static void copies_to_the_wrong_place_are_one_group(void **state)
{
	static const struct {
		const char *signature;
		enum fact_kind kind;
	} rows[] = {
		{ "TREE copy_file_range size (too small)", FACT_SIZE }, /* as it was before */
		{ "TREE copy_file_range size (too small)", FACT_SIZE },
		{ "TREE copy_file_range data (other)", FACT_DATA },
		{ "TREE copy_file_range data (stale)", FACT_DATA },
	};
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		struct fact fact = { .kind = rows[i].kind, .mode = S_IFREG, .nlink = 1 };

		set_signature(&d, rows[i].signature);
		d.is_cached = true;
		d.call.op = OP_copy_file_range;
		d.is_stale = !i;
		expect_group(&d, &fact,
			     i ? "data that copy_file_range writes" : "size of files, stale");
	}
}

/* A size that stays as it was, whichever call changes it, and reads that end elsewhere. */
static void stale_sizes_are_one_group(void **state)
{
	static const struct {
		const char *signature, *group;
		bool is_cached, is_stale;
		struct fact fact;
	} rows[] = {
		{ "TREE truncate size (too large)",
		  "size of files, stale",
		  true,
		  true,
		  { .kind = FACT_SIZE, .mode = S_IFREG } },
		{ "TREE write size (too small)",
		  "size of files, stale",
		  true,
		  true,
		  { .kind = FACT_SIZE, .mode = S_IFREG } },
		{ "TREE write unreadable (read EFBIG)",
		  "size of files, stale",
		  true,
		  false,
		  { .kind = FACT_UNREADABLE, .mode = S_IFREG, .call = "read", .error = EFBIG } },
		{ "TREE write unreadable (read EIO)",
		  "TREE write unreadable (read EIO)",
		  true,
		  false,
		  { .kind = FACT_UNREADABLE, .mode = S_IFREG, .call = "read", .error = EIO } },
		{ "TREE write size (too small)",
		  "TREE write size (too small)",
		  true,
		  false,
		  { .kind = FACT_SIZE, .mode = S_IFREG } },
		/* No cache of a kernel is behind this. */
		{ "TREE truncate size (too large)",
		  "TREE truncate size (too large)",
		  false,
		  true,
		  { .kind = FACT_SIZE, .mode = S_IFREG } },
	};
	struct discrepancy d;

	for (size_t i = 0; i < SIZE(rows); i++) {
		struct fact fact = rows[i].fact;

		set_signature(&d, rows[i].signature);
		d.is_cached = rows[i].is_cached;
		d.is_stale = rows[i].is_stale;
		expect_group(&d, &fact, rows[i].group);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_of_new_objects_are_one_group),
		cmocka_unit_test(a_new_name_is_not_stale),
		cmocka_unit_test(stale_sizes_are_one_group),
		cmocka_unit_test(a_lost_name_is_counted_by_the_others),
		cmocka_unit_test(names_are_looked_up_alike),
		cmocka_unit_test(hidden_names_are_one_group),
		cmocka_unit_test(copies_to_the_wrong_place_are_one_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
