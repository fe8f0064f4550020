/* test_walk.c -- walks as workloads: the same again, of calls that succeed, some of which promise
 * something. */
#include "base/err.h"
#include "crash/walk.h"
#include "persistence/persistence.h"
#include "tests/harness/unit.h"

enum { WALKS = 50, LENGTH = 15 };

static struct {
	struct model model;
	struct state start;
	struct walk walk;
} w;

static int setup(void **state)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};

	model_init(&w.model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&w.start, &options);
	return walk_open(&w.walk, "crash", &w.model, &w.start, LENGTH, 7, NULL);
}

static int teardown(void **state)
{
	walk_close(&w.walk);
	state_free(&w.start);
	return 0;
}

static void walks_repeat(void **state)
{
	struct arena arena = ARENA_INIT;
	struct workload a, b, other;
	bool differs = false;

	walk_workload(&w.walk, 3, &arena, &a);
	walk_workload(&w.walk, 3, &arena, &b);
	walk_workload(&w.walk, 4, &arena, &other);
	assert_int_equal(a.count, b.count);
	for (size_t i = 0; i < a.count; i++) {
		assert_true(call_equal(&a.calls[i], &b.calls[i]));
		differs |= i >= other.count || !call_equal(&a.calls[i], &other.calls[i]);
	}
	assert_true(differs);
	arena_free(&arena);
}

static void their_calls_succeed(void **state)
{
	const struct persist_rules rules = { .level = PERSIST_POSIX };
	struct arena arena = ARENA_INIT;
	size_t promises = 0;

	for (uint64_t n = 0; n < WALKS; n++) {
		struct state s = state_copy(&w.start);
		struct persistence history;
		struct workload load;

		walk_workload(&w.walk, n, &arena, &load);
		assert_true(load.count > LENGTH / 2);
		persistence_begin(&history, &rules, &s.tree);
		for (size_t i = 0; i < load.count; i++) {
			struct state before = state_copy(&s);
			struct outcome outcome;

			model_run(&w.model, &s, &load.calls[i], &outcome);
			assert_int_equal(outcome.error, 0);
			persistence_add(&history, &before, &load.calls[i], &outcome, &s);
			promises += history.steps[i + 1].promise.kind != PROMISE_NONE;
			state_free(&before);
		}
		persistence_free(&history);
		state_free(&s);
	}
	assert_true(promises > WALKS);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_repeat),
		cmocka_unit_test(their_calls_succeed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
