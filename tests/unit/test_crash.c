/* test_crash.c -- what a crash that breaks a promise is called. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "crash/crash.h"
#include "storage/write_log.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static const struct persist_rules rules = { .level = PERSIST_POSIX, .rename_is_atomic = true };

/* Whether the last of two calls has returned without a flush, if the write before the first one
 * returned is lost, and what the last one has promised is broken. */
static bool is_unflushed(const char *first, const char *last)
{
	static const struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
						      .hashed = true,
						      .root_mode = 0755 };
	static const bool lost[] = { true, false };
	struct disk_event writes[] = { { .what = RECORD_WRITE, .calls = 0 },
				       { .what = RECORD_WRITE, .calls = 1 } };
	struct crash_case c = { .count = 2,
				.events = { .events = writes, .count = 2, .calls = 2 } };
	const struct crash_point p = {
		.view = VIEW_LOST_ONE, .at = 2, .done = 2, .begun = 2, .lost = lost
	};
	const struct broken_promise broken = { .what = "name is back", .call = 2 };
	const char *calls[] = { first, last };
	struct arena arena = ARENA_INIT;
	struct model model;
	struct state s;
	bool unflushed;

	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&s, &options);
	persistence_begin(&c.history, &rules, &s.tree);
	for (size_t i = 0; i < 2; i++) {
		struct state before = state_copy(&s);
		struct outcome outcome;
		struct call call;

		assert_int_equal(call_parse(&call, calls[i], &arena, NULL), 0);
		model_run(&model, &s, &call, &outcome);
		persistence_add(&c.history, &before, &call, &outcome, &s);
		state_free(&before);
	}
	unflushed = crash_was_unflushed(&c, &p, &broken);
	persistence_free(&c.history);
	state_free(&s);
	arena_free(&arena);
	return unflushed;
}

static void a_promise_needs_a_flush(void **state)
{
	assert_true(is_unflushed("mkdir(\"a\", 0755)", "sync()"));
}

/* It is atomic, which is broken, but it need not be durable. */
static void a_rename_needs_none(void **state)
{
	assert_false(is_unflushed("mkdir(\"a\", 0755)", "rename(\"a\", \"b\")"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_promise_needs_a_flush),
		cmocka_unit_test(a_rename_needs_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
