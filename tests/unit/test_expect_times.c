/* test_expect_times.c -- what the model expects a call to do to times. */
#include <string.h>

#include "base/err.h"
#include "judge/fact.h"
#include "plan/expect_times.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static struct model model;

static int begin(void **state)
{
	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	return 0;
}

/* What is expected of the last call of a script for the object that it leaves at this path;
 * NULL: nothing. */
static const struct time_change *expectation(const char *text, const char *name)
{
	const struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					       .hashed = true,
					       .root_mode = 0777 };
	static struct times_expected times;
	const struct time_change *found = NULL;
	struct script script = { 0 };
	struct state s, before;
	struct envelope env;
	struct err err = { 0 };
	uint64_t place = 0;

	if (script_parse(&script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	state_init(&s, &options);
	before = state_copy(&s);
	for (size_t i = 0; i < script.count; i++) {
		state_free(&before);
		before = state_copy(&s);
		model_move(&model, &s, &script.items[i].call, &env);
	}
	expect_times(&model, &before, &s, &script.items[script.count - 1].call, &env, &times);
	assert_true(times.known);
	place = tree_inode(&s.tree, fact_inode(&s.tree, name))->places.lo;
	for (unsigned i = 0; i < times.count; i++)
		if (times.changes[i].place == place)
			found = &times.changes[i];
	state_free(&before);
	state_free(&s);
	script_free(&script);
	return found;
}

#define MADE \
	"create_file(\"f\", O_RDWR|O_CREAT, 0644)\nwrite_file(\"f\", O_RDWR, data(1, 9), 9, 0)\n"

static bool read_sets_access(const char *calls)
{
	const struct time_change *c = expectation(calls, "f");

	assert_non_null(c);
	assert_true(c->may & TIME_BIT_ACCESS);
	return c->is_read;
}

static void test_reads_set_old_access_times(void **state)
{
	assert_false(read_sets_access(MADE "open(\"f\", O_RDONLY)\npread(3, 4, 0)\n"));
	model.traits.relatime = true;
	assert_true(read_sets_access(MADE "open(\"f\", O_RDONLY)\npread(3, 4, 0)\n"));
	assert_true(read_sets_access(
		MADE
		"open(\"f\", O_RDWR)\nopen(\"g\", O_RDWR|O_CREAT, 0644)\nsplice(3, 0, 4, 0, 4)\n"));
}

static void test_some_reads_may_leave_them(void **state)
{
	model.traits.relatime = true;
	assert_false(read_sets_access(MADE "open(\"f\", O_RDONLY)\npread(3, 4, 9)\n"));
	assert_false(read_sets_access(MADE "open(\"f\", O_RDONLY|O_NOATIME)\npread(3, 4, 0)\n"));
}

static void test_a_store_through_a_new_mapping_sets_times(void **state)
{
	static const char once[] = MADE "map_write_file(\"f\", MAP_SHARED, \"x\", 1, 0)\n";
	static const char again[] = MADE "open(\"f\", O_RDWR)\n"
					 "mmap(4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0)\n"
					 "map_write(1, \"x\", 1, 0)\n";

	assert_false(expectation(once, "f")->must & TIME_BIT_MODIFY);
	model.traits.map_sets_times = true;
	assert_true(expectation(once, "f")->must & TIME_BIT_MODIFY);
	assert_true(expectation(once, "f")->must & TIME_BIT_CHANGE);
	assert_false(expectation(again, "f")->must & TIME_BIT_MODIFY);
}

#define DIRS "mkdir(\"d\", 0755)\nmkdir(\"e\", 0755)\n"

static void test_a_moved_directory_has_another_parent(void **state)
{
	const struct time_change *c = expectation(DIRS "rename(\"d\", \"e/d\")\n", "e/d");

	assert_non_null(c);
	assert_true(c->may & TIME_BIT_MODIFY);
	model.traits.moved_dir_keeps_mtime = true;
	c = expectation(DIRS "rename(\"d\", \"e/d\")\n", "e/d");
	assert_non_null(c);
	assert_false(c->may & TIME_BIT_MODIFY);
	assert_true(c->must & TIME_BIT_CHANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_reads_set_old_access_times, begin),
		cmocka_unit_test_setup(test_some_reads_may_leave_them, begin),
		cmocka_unit_test_setup(test_a_store_through_a_new_mapping_sets_times, begin),
		cmocka_unit_test_setup(test_a_moved_directory_has_another_parent, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
