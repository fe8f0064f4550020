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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
