/* test_giving_up.c -- after a failure: what a file system that gives up may answer and lose, and
 * what it may not. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/giving_up.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static struct {
	struct model model;
	struct state state;
	struct arena arena;
} w;

static int setup(void **state)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};

	model_init(&w.model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&w.state, &options);
	giving_up_watch(&w.state);
	w.arena = (struct arena)ARENA_INIT;
	return 0;
}

static int teardown(void **state)
{
	state_free(&w.state);
	arena_free(&w.arena);
	return 0;
}

/* The call, and what came of it: success, or an errno. */
static enum verdict see(const char *text, int error)
{
	struct outcome seen = { .error = error };
	struct err err = { 0 };
	struct envelope env;
	struct call c;

	if (call_parse(&c, text, &w.arena, &err))
		fail_msg("%s", err.text);
	if (!error) {
		struct state copy = state_copy(&w.state);

		model_run(&w.model, &copy, &c, &seen);
		state_free(&copy);
		seen.error = 0;
	}
	return model_step(&w.model, &w.state, &c, &seen, &env);
}

static void allowed(const char *text, int error)
{
	if (see(text, error) != VERDICT_OK)
		fail_msg("%s: %s is not allowed", text, error ? errno_name(error) : "success");
}

static void forbidden(const char *text, int error)
{
	if (see(text, error) != VERDICT_BAD)
		fail_msg("%s: %s is allowed", text, error ? errno_name(error) : "success");
}

static void nothing_is_excused_without_a_failure(void **state)
{
	allowed("mkdir(\"a\", 0755)", 0);
	forbidden("mkdir(\"b\", 0755)", EROFS);
	forbidden("stat(\"a\")", EIO);
	forbidden("remount()", EIO);
	assert_false(giving_up_possible(&w.model, &w.state));
}

static void after_a_failure_it_may_give_up(void **state)
{
	allowed("mkdir(\"a\", 0755)", 0);
	allowed("fail_write(1)", 0);
	assert_true(giving_up_possible(&w.model, &w.state));
	allowed("mkdir(\"b\", 0755)", 0);
	allowed("stat(\"a\")", EIO);
	allowed("stat(\"a\")", 0);
	forbidden("stat(\"a\")", EROFS); /* which is for changes */
	forbidden("stat(\"a\")", ENOENT);
	allowed("mkdir(\"a\", 0755)", EROFS); /* before EEXIST */
	/* It has said so, and stays so. */
	forbidden("mkdir(\"c\", 0755)", 0);
	allowed("mkdir(\"c\", 0755)", EROFS);
	allowed("stat(\"a\")", 0);
	allowed("remount()", 0);
	forbidden("mkdir(\"d\", 0755)", EROFS);
	allowed("mkdir(\"e\", 0755)", 0);
}

static void an_unmet_failure_changes_nothing(void **state)
{
	allowed("fail_write(1)", 0);
	allowed("drop_caches()", 0); /* which ends the waiting */
	assert_false(giving_up_possible(&w.model, &w.state));
	forbidden("mkdir(\"a\", 0755)", EROFS);
}

static void for_memory_only_some_give_up(void **state)
{
	allowed("fail_alloc(1)", 0);
	allowed("mkdir(\"a\", 0755)", ENOMEM);
	forbidden("mkdir(\"b\", 0755)", EROFS);
	w.model.traits.memory_gives_up = true;
	allowed("fail_alloc(1)", 0);
	allowed("mkdir(\"c\", 0755)", EROFS);
	allowed("mkdir(\"d\", 0755)", EROFS);
}

static void mounting_may_fail_then(void **state)
{
	allowed("fail_write(1)", 0);
	allowed("sync()", 0);
	allowed("remount()", EUCLEAN);
	allowed("remount()", EINVAL);
	forbidden("remount()", EBUSY);
}

/* What is seen is another tree: the model's without one of its names. */
static struct tree without(const char *name)
{
	struct tree t = tree_copy(&w.state.tree);

	tree_unlink(&t, TREE_ROOT, name, strlen(name));
	tree_settle(&t);
	return t;
}

static bool may_lose(const char *name)
{
	struct tree seen = without(name);
	bool may = giving_up_explains(&w.state, &seen);

	tree_free(&seen);
	return may;
}

static void what_was_synced_is_there(void **state)
{
	struct tree changed;

	allowed("write_file(\"synced\", O_WRONLY|O_CREAT, \"abc\", 3, 0)", 0);
	allowed("write_file(\"touched\", O_WRONLY|O_CREAT, \"abc\", 3, 0)", 0);
	allowed("sync()", 0);
	allowed("write_file(\"touched\", O_WRONLY, \"d\", 1, 0)", 0);
	allowed("write_file(\"touched\", O_WRONLY, \"a\", 1, 0)", 0); /* as before: but when? */
	allowed("write_file(\"new\", O_WRONLY|O_CREAT, \"abc\", 3, 0)", 0);
	allowed("fail_write(1)", 0);
	allowed("sync()", 0); /* which cannot tell that it failed */
	allowed("remount()", 0);
	assert_true(giving_up_explains(&w.state, &w.state.tree));
	assert_true(may_lose("new"));
	assert_true(may_lose("touched"));
	assert_false(may_lose("synced"));
	changed = tree_copy(&w.state.tree);
	tree_write(&changed, tree_find(&changed, TREE_ROOT, "synced", 6)->ino, 1, "x", 1);
	tree_settle(&changed);
	assert_false(giving_up_explains(&w.state, &changed));
	tree_free(&changed);
	/* Once all was written without a failure, nothing may be lost any more. */
	allowed("sync()", 0);
	assert_false(giving_up_possible(&w.model, &w.state));
	assert_false(may_lose("new"));
}

static void what_failed_may_be_half_done(void **state)
{
	allowed("mkdir(\"a\", 0755)", 0);
	allowed("mkdir(\"b\", 0755)", 0);
	allowed("sync()", 0);
	allowed("fail_write(1)", 0);
	allowed("rmdir(\"a\")", EIO);
	assert_true(may_lose("a"));
	assert_false(may_lose("b"));
}

static void time_never_overflows(void **state)
{
	allowed("advance_time(9223372036854775807)", EINVAL);
	forbidden("advance_time(-1)", 0);
	w.state.now = INT64_MAX - 5;
	for (int i = 0; i < 10; i++)
		allowed("advance_time(86400000)", 0);
	allowed("create_file(\"f\", O_WRONLY|O_CREAT, 0644)", 0);
	assert_true(w.state.now == INT64_MAX);
}

/* The second pass, which says what was allowed, knows the failure that the first one met. */
static void a_failure_is_told_among_what_is_allowed(void **state)
{
	struct outcome seen = { .error = EBUSY };
	struct err err = { 0 };
	struct envelope env;
	struct call c;

	allowed("fail_alloc(1)", 0);
	assert_int_equal(call_parse(&c, "mkdir(\"a\", 0755)", &w.arena, &err), 0);
	assert_int_equal(model_step(&w.model, &w.state, &c, &seen, &env), VERDICT_BAD);
	assert_true(env.success);
	assert_true(errset_has(&env.errors, ENOMEM));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_excused_without_a_failure),
		TEST(after_a_failure_it_may_give_up),
		TEST(an_unmet_failure_changes_nothing),
		TEST(for_memory_only_some_give_up),
		TEST(mounting_may_fail_then),
		TEST(what_was_synced_is_there),
		TEST(what_failed_may_be_half_done),
		TEST(time_never_overflows),
		TEST(a_failure_is_told_among_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
