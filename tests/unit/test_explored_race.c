/* test_explored_race.c -- races that a search draws: which calls may overlap, and the family that
 * runs one again. */
#include <string.h>

#include "conform/explored_race.h"
#include "suite/suite.h"
#include "tests/harness/unit.h"

/* The calls of a text; they live as long as the suite. */
static struct suite suite;

static const struct suite_script *calls_of(const char *text)
{
	assert_int_equal(suite_add_race(&suite, "race", "chmod(\"/\", 0777)\n", text, NULL), 0);
	return &suite.scripts[suite.count - 1];
}

/* What is asked of two calls, in a tree with a directory, d, and a file in it, d/f. */
typedef bool asked(const struct model *m, const struct state *s, const struct call *calls,
		   size_t count);

static bool holds_for(asked *question, const char *text)
{
	const struct suite_script *setup = calls_of("mkdir(\"d\", 0755)\n"
						    "open_close(\"d/f\", O_CREAT|O_WRONLY, 0644)\n"
						    "[2] create_process(0, 0)\n"
						    "[3] create_process(0, 0)\n");
	const struct state_options options = { .hashed = true, .root_mode = 0777 };
	struct outcome outcome;
	struct state s;
	struct model m;
	bool holds;

	model_init(&m, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&s, &options);
	for (unsigned i = 0; i < setup->count; i++)
		model_run(&m, &s, &setup->calls[i], &outcome);
	holds = question(&m, &s, calls_of(text)->calls, 2);
	state_free(&s);
	return holds;
}

static bool is_worth(const char *text)
{
	return holds_for(explored_race_is_worth, text);
}

static bool shows_order(const char *text)
{
	return holds_for(explored_race_shows_order, text);
}

static void one_of_the_calls_changes_something(void **state)
{
	assert_true(is_worth("[2] unlink(\"d/f\")\n[3] truncate(\"d/f\", 0)\n"));
	assert_false(is_worth("[2] rmdir(\"d\")\n[3] sync()\n"));
}

static void no_directory_moves_beside_two_paths(void **state)
{
	assert_true(is_worth("[2] rename(\"d/f\", \"g\")\n[3] link(\"d/f\", \"h\")\n"));
	assert_true(is_worth("[2] rename(\"d\", \"e\")\n[3] unlink(\"d/f\")\n"));
	assert_false(is_worth("[2] rename(\"d\", \"e\")\n[3] link(\"d/f\", \"h\")\n"));
	assert_false(
		is_worth("[2] rename(\"d/f\", \"g\")\n"
			 "[3] renameat2(AT_FDCWD, \"g\", AT_FDCWD, \"d\", RENAME_EXCHANGE)\n"));
}

static void calls_with_something_in_common_show_their_order(void **state)
{
	assert_true(shows_order("[2] unlink(\"d/f\")\n[3] truncate(\"d/f\", 0)\n"));
	assert_true(shows_order("[2] mkdir(\"e\", 0755)\n[3] rename(\"d\", \"e\")\n"));
	assert_false(shows_order("[2] mkdir(\"e\", 0755)\n[3] mkdir(\"g\", 0755)\n"));
}

static void calls_in_several_moments_do_not_race(void **state)
{
	assert_true(explored_race_allows(calls_of("unlink(\"f\")\n")->calls));
	assert_false(explored_race_allows(calls_of("read(3, 10)\n")->calls));
	assert_false(explored_race_allows(
		calls_of("write_file(\"f\", O_WRONLY|O_TRUNC, \"x\", 1, 0)\n")->calls));
}

static void a_family_is_the_same_race(void **state)
{
	const struct suite_script *race =
		calls_of("[2] create_process(0, 0)\n"
			 "[3] create_process(0, 0)\n"
			 "mkdir(\"d\", 0755)\n"
			 "[2] rmdir(\"d\")\n"
			 "[3] setxattr(\"d\", \"user.a\", \"12\", 2, 0)\n");
	const struct suite_script *again;
	struct buf text = BUF_INIT;
	struct suite own = { 0 };

	explored_race_print(race->calls, race->count, 2, &text);
	assert_int_equal(families_read(&own.families, "race.ini", buf_str(&text), NULL), 0);
	assert_int_equal(suite_add_family(&own, "explored", NULL), 0);
	assert_int_equal(own.count, 1);
	assert_int_equal(suite_find(&own, explored_race_name), 0);
	again = &own.scripts[0];
	assert_true(again->races);
	assert_int_equal(own.setups[again->setup].count, 3);
	assert_int_equal(again->count, 2);
	for (unsigned i = 0; i < 2; i++)
		assert_true(call_equal(&again->calls[i], &race->calls[3 + i]));
	suite_free(&own);
	buf_free(&text);
}

static int free_suite(void **state)
{
	suite_free(&suite);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_the_calls_changes_something),
		cmocka_unit_test(no_directory_moves_beside_two_paths),
		cmocka_unit_test(calls_with_something_in_common_show_their_order),
		cmocka_unit_test(calls_in_several_moments_do_not_race),
		cmocka_unit_test(a_family_is_the_same_race),
	};

	return cmocka_run_group_tests(tests, NULL, free_suite);
}
