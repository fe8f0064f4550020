/* test_half_done.c -- what a call without space may leave behind, and what it may not. */
#include <errno.h>

#include "judge/half_done.h"
#include "tests/harness/plans.h"

static const char *const file = "write_file(\"a\", O_WRONLY|O_CREAT, data(1, 12288), 12288, 0)";

/* Could the call have failed with this errno, after it has led to what the changes make? */
static bool explains(const char *call, int error, const char *changes)
{
	struct discrepancy d = { .answer.error = error };
	struct fact facts[FACTS_MAX];
	struct state before, seen;
	struct err why = { 0 };
	struct pair p;
	struct call c;
	bool ret;

	if (!pair_open(&p, "reffs", 60, &why))
		fail_msg("%s", why.text);
	pair_do(&p, file);
	before = state_copy(&p.state);
	pair_do(&p, changes);
	seen = state_copy(&p.state);
	c = pair_call(&p, call);
	d.fact_count = facts_find(&before.tree, &seen.tree, &p.arena, facts);
	d.facts = facts;
	ret = is_half_done(&before.tree, &seen.tree, &c, &d);
	state_free(&before);
	state_free(&seen);
	pair_close(&p);
	return ret;
}

#define AT(offset) "write_file(\"a\", O_WRONLY, data(2, 4096), 4096, " #offset ")"

static void a_write_changes_its_range(void **state)
{
	static const char middle[] = AT(4096), end[] = AT(12288), start[] = AT(0);

	assert_true(explains(middle, ENOSPC, middle));
	assert_true(explains(middle, EDQUOT, "write_file(\"a\", O_WRONLY, \"x\", 1, 8191)"));
	assert_true(explains(end, ENOSPC, "truncate(\"a\", 14000)"));
	assert_false(explains(middle, ENOSPC, start));
	assert_false(explains(middle, ENOSPC, "write_file(\"a\", O_WRONLY, \"x\", 1, 8192)"));
	assert_false(explains(middle, ENOSPC, "truncate(\"a\", 4096)"));
	assert_false(explains(end, ENOSPC, "chmod(\"a\", 0600)"));
	assert_false(explains(middle, ENOENT, middle));
}

static void flags_say_where_a_write_is(void **state)
{
	static const char appends[] =
		"write_file(\"a\", O_WRONLY|O_APPEND, data(2, 4096), 4096, 0)";
	static const char cuts[] = "write_file(\"a\", O_WRONLY|O_TRUNC, data(2, 4096), 4096, 0)";

	assert_true(explains(appends, ENOSPC, AT(12288)));
	assert_false(explains(appends, ENOSPC, AT(0)));
	assert_true(explains(cuts, ENOSPC, "truncate(\"a\", 0)"));
}

static void fallocate_changes_what_its_mode_says(void **state)
{
	static const char more[] = "fallocate_file(\"a\", 0, 0, 65536)";
	static const char zero[] = "fallocate_file(\"a\", FALLOC_FL_ZERO_RANGE, 4096, 4096)";
	static const char insert[] = "fallocate_file(\"a\", FALLOC_FL_INSERT_RANGE, 4096, 4096)";
	static const char hole[] =
		"fallocate_file(\"a\", FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, 0, 4096)";

	assert_true(explains(more, ENOSPC, "truncate(\"a\", 20000)"));
	assert_false(explains(more, ENOSPC, hole));
	assert_true(explains(zero, ENOSPC, zero));
	assert_false(explains(zero, ENOSPC, hole));
	assert_true(explains(insert, ENOSPC, AT(8192)));
	assert_false(explains(insert, ENOSPC, hole));
}

static void other_failures_leave_anything(void **state)
{
	assert_true(explains(AT(4096), EIO, AT(0)));
	assert_false(explains("pwrite(3, data(2, 1), 1, 0)", EIO, AT(0)));
}

static void a_file_that_is_only_made_is_a_fact_of_its_own(void **state)
{
	struct fact made[] = { { .kind = FACT_EXTRA }, { .kind = FACT_SIZE } };
	struct discrepancy d = { .facts = made, .fact_count = 1 };

	assert_true(is_only_made(&d));
	d.fact_count = 2;
	assert_false(is_only_made(&d));
	d.fact_count = 0;
	assert_false(is_only_made(&d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_write_changes_its_range),
		cmocka_unit_test(flags_say_where_a_write_is),
		cmocka_unit_test(fallocate_changes_what_its_mode_says),
		cmocka_unit_test(other_failures_leave_anything),
		cmocka_unit_test(a_file_that_is_only_made_is_a_fact_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
