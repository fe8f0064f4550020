/* test_touched.c -- which objects are looked at after a call: what it names and changes. */
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "tests/harness/plans.h"

static struct universe tiny;
static struct pair pair;
static struct predictor predictor;
static struct plan plan;

static int open_plan(void **state)
{
	struct err err = { 0 };

	if (universe_open(&tiny, "tiny", NULL, 0, &err) || !pair_open(&pair, "reffs", 0, &err))
		fail_msg("%s", err.text);
	tiny.nodes_max = 100;
	tiny.files_max = 10;
	tiny.size_max = 4096;
	predictor = (struct predictor){ .model = &pair.model, .universe = &tiny };
	plan_init(&plan, &predictor, &pair.state);
	return 0;
}

static int close_plan(void **state)
{
	plan_free(&plan);
	pair_close(&pair);
	universe_free(&tiny);
	return 0;
}

static void made(const char *text)
{
	struct call c = pair_call(&pair, text);

	assert_int_equal(plan_add_any(&plan, &c, true)->expected.error, 0);
}

/* The paths, directories before what is in them, with spaces between; "all": everything is looked
 * at. */
static void expect_touched(const char *text, const char *paths)
{
	struct call c = pair_call(&pair, text);
	const struct plan_step *step = plan_add_touched(&plan, &c);
	struct buf listed = BUF_INIT;

	assert_non_null(step);
	assert_true(step->observe);
	for (const char *at = step->part; at && *at; at += strlen(at) + 1)
		buf_addf(&listed, "%s%s", listed.len ? " " : "", at);
	assert_string_equal(step->part ? buf_str(&listed) : "all", paths);
	buf_free(&listed);
}

static void names_that_come_and_go_with_their_directories(void **state)
{
	made("mkdir(\"d\", 0755)");
	expect_touched("mkdir(\"d/e\", 0755)", "d d/e");
	expect_touched("create_file(\"d/e/f\", O_WRONLY, 0644)", "d/e /d/e/f");
	expect_touched("rename(\"d/e/f\", \"g\")", ". d/e d/e/f /g");
	expect_touched("rmdir(\"d/e\")", "d d/e");
	expect_touched("unlink(\"g\")", ". g");
}

static void all_names_of_what_changes(void **state)
{
	made("mkdir(\"d\", 0755)");
	made("create_file(\"f\", O_WRONLY, 0644)");
	made("link(\"f\", \"d/l\")");
	expect_touched("chmod(\"f\", 0600)", "/f /d/l");
	expect_touched("unlink(\"f\")", "f . /d/l");
}

static void failing_calls_name_objects_too(void **state)
{
	made("mkdir(\"d\", 0755)");
	expect_touched("rmdir(\"none\")", ".");
	expect_touched("mkdir(\"d\", 0755)", ". d");
	expect_touched("mkdir(\"d/e/f\", 0755)", "d");
	expect_touched("chmod(\"d/none\", 0600)", "");
}

/* Once less: attributes; twice: times. A directory on the way is touched by names only. */
static void less_where_a_call_does_less(void **state)
{
	made("mkdir(\"d\", 0755)");
	made("open(\"d/f\", O_RDWR|O_CREAT, 0644)");
	made("link(\"d/f\", \"l\")");
	expect_touched("stat(\"d/f\")", "//l //d/f");
	expect_touched("read(3, 1)", "//l //d/f");
	expect_touched("list_dir(\"d\")", "//d");
	expect_touched("stat(\"d/none\")", "");
	expect_touched("fsync(3)", "l d/f");
	expect_touched("open(\"d/f\", O_RDONLY, 0)", "//l //d/f");
	expect_touched("open(\"d/f\", O_RDWR|O_TRUNC, 0)", "l d/f");
	expect_touched("open(\"d/f\", O_RDWR|O_CREAT, 0644)", "/l d /d/f");
	expect_touched("open_close(\"d\", O_RDONLY, 0)", "//d");
	expect_touched("create_file(\"d/f\", O_RDONLY, 0644)", "/l d /d/f");
	expect_touched("write_file(\"d/f\", O_WRONLY, \"a\", 1, 0)", "l d/f");
	expect_touched("setxattr(\"d\", \"user.a\", \"b\", 1, 0)", "/d");
}

/* Only by the names that a call acts on, which are there or gone. */
static void large_directories_without_their_entries(void **state)
{
	char text[64];

	for (int i = 0; i < 64; i++) {
		snprintf(text, sizeof(text), "mkdir(\"d%d\", 0755)", i);
		made(text);
	}
	expect_touched("mkdir(\"e\", 0755)", "/. e");
	expect_touched("rmdir(\"e\")", ". e");
}

static void links_and_what_they_lead_to(void **state)
{
	made("mkdir(\"d\", 0755)");
	made("symlink(\"d\", \"l\")");
	made("symlink(\"loop\", \"loop\")");
	expect_touched("stat(\"l\")", "//l //d");
	expect_touched("mkdir(\"l/e\", 0755)", ". d d/e /l");
	expect_touched("chmod(\"loop\", 0600)", "/loop");
}

/* From another directory than the root, and where the call has met more names than are kept. */
static void names_that_only_the_tree_has(void **state)
{
	made("mkdir(\"d\", 0755)");
	made("mkdir(\"d/e\", 0755)");
	made("mkdir(\"x\", 0755)");
	made("chdir(\"d/e\")");
	expect_touched("mkdir(\"f\", 0755)", "d/e d/e/f");
	expect_touched("rename(\"f\", \"../g\")", "d/e/f d d/g d/e");
	expect_touched("mkdir(\"/x/../d/h\", 0755)", "d d/h");
	expect_touched("rename(\"/d/h\", \"/x/i\")", "d d/h x x/i");
	expect_touched("mkdir(\"/x/../x/../x/../x/../x/../x/../x/../x/../x/../x/../x/../x/../x/../x"
		       "/../x/../x/../x/../x/../x/j\", 0755)",
		       "x x/j");
}

static void open_files_by_their_descriptors(void **state)
{
	made("open(\"f\", O_RDWR|O_CREAT, 0644)");
	expect_touched("write(3, \"abc\", 3)", "f");
	expect_touched("close(7)", "");
	expect_touched("umask(022)", "");
}

static void everything_where_a_call_acts_on_all(void **state)
{
	made("mkdir(\"d\", 0755)");
	expect_touched("chmod(\"d\", 0700)", "/d");
	expect_touched("remount()", "all");
	/* Nor is what was there before it left to chance. */
	assert_null(plan.steps[plan.count - 2].part);
	made("mkdir(\"d/e\", 0755)");
	expect_touched("rename(\"d\", \"c\")", "all"); /* all below has other paths */
	expect_touched("sync()", "all");
}

static void the_last_look_of_a_plan_is_at_all(void **state)
{
	expect_touched("mkdir(\"d\", 0755)", ". d");
	plan_look_at_all(&plan);
	assert_null(plan.steps[plan.count - 1].part);
	assert_true(plan.steps[plan.count - 1].observe);
}

#define WITH_PLAN(test) cmocka_unit_test_setup_teardown(test, open_plan, close_plan)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PLAN(names_that_come_and_go_with_their_directories),
		WITH_PLAN(all_names_of_what_changes),
		WITH_PLAN(failing_calls_name_objects_too),
		WITH_PLAN(less_where_a_call_does_less),
		WITH_PLAN(large_directories_without_their_entries),
		WITH_PLAN(links_and_what_they_lead_to),
		WITH_PLAN(names_that_only_the_tree_has),
		WITH_PLAN(open_files_by_their_descriptors),
		WITH_PLAN(everything_where_a_call_acts_on_all),
		WITH_PLAN(the_last_look_of_a_plan_is_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
