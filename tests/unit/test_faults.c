/* test_faults.c -- RefFS and its faults: every fault shows by the script that its row gives, and
 * RefFS without one never mismatches. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/rng.h"
#include "broken/faults.h"
#include "tests/harness/plans.h"
#include "universe/universe.h"

enum { RANDOM_CALLS = 3000 };

static struct target *open_target(const char *spec)
{
	struct err err = { 0 };
	struct target *t = NULL;

	if (target_open(&t, spec, NULL, &err))
		fail_msg("%s: %s", spec, err.text);
	return t;
}

/* The index of the first call at which the target mismatches, or count. */
static size_t follow_script(const char *spec, const struct script *script)
{
	struct err err = { 0 };
	struct pair p;
	size_t i;

	if (!pair_open(&p, spec, 0, &err))
		fail_msg("%s", err.text);
	for (i = 0; i < script->count; i++) {
		struct buf text = BUF_INIT;
		struct plan_step step;

		assert_int_equal(script->items[i].type, ITEM_CALL);
		call_print(&script->items[i].call, DIALECT_NATIVE, &text);
		step = pair_step(&p, text.data);
		buf_free(&text);
		if (!pair_follow(&p, &step, 1).done)
			break;
	}
	pair_close(&p);
	return i;
}

static void every_fault_shows_at_the_end_of_its_script(void **state)
{
	struct buf spec = BUF_INIT;

	for (size_t i = 0; i < fault_count; i++) {
		const struct fault_info *fault = &fault_table[i];
		struct script script = { 0 };
		struct err err = { 0 };

		if (script_parse(&script, fault->name, fault->script, strlen(fault->script), &err))
			fail_msg("%s", err.text);
		buf_clear(&spec);
		buf_addf(&spec, "reffs!%s", fault->name);
		assert_int_equal(follow_script("reffs", &script), script.count);
		if (follow_script(spec.data, &script) != script.count - 1)
			fail_msg("%s does not show at the end of its script", fault->name);
		script_free(&script);
	}
	buf_free(&spec);
}

/* A broken RefFS must stay a data structure in order: it is the test's bug otherwise. */
static void faults_survive_random_calls(void **state)
{
	struct err err = { 0 };
	struct universe u;

	assert_int_equal(universe_open(&u, "default", NULL, 0, &err), 0);
	for (size_t i = 0; i < fault_count; i++) {
		struct buf spec = BUF_INIT;
		struct outcome outcome;
		enum target_fate fate;
		struct target *t;
		struct call c;
		struct rng rng;

		rng_seed(&rng, 1);
		buf_addf(&spec, "reffs!%s", fault_table[i].name);
		t = open_target(spec.data);
		for (size_t n = 0; n < RANDOM_CALLS; n++) {
			universe_call(&u, universe_draw(&u, &rng), &c);
			assert_int_equal(target_call(t, &c, &outcome, &fate, &err), 0);
			assert_int_equal(fate, FATE_FINE);
		}
		target_close(t);
		buf_free(&spec);
	}
	universe_free(&u);
}

static void states_are_saved_and_restored(void **state)
{
	struct target *t = open_target("reffs!truncate_remount");
	struct arena arena = ARENA_INIT;
	struct err err = { 0 };
	struct outcome outcome;
	enum target_fate fate;
	struct tree before, after;
	struct call c;

	assert_int_equal(call_parse(&c, "mkdir(\"a\", 0755)", &arena, &err), 0);
	assert_int_equal(target_observe(t, &before, &fate, &err), 0);
	assert_int_equal(t->kind->save(t, 7, &err), 0);
	assert_int_equal(target_call(t, &c, &outcome, &fate, &err), 0);
	assert_int_equal(outcome.error, 0);
	assert_int_equal(t->kind->restore(t, 7, &err), 0);
	assert_int_equal(target_observe(t, &after, &fate, &err), 0);
	assert_true(hash_equal(tree_hash(&before), tree_hash(&after)));
	assert_int_equal(target_call(t, &c, &outcome, &fate, &err), 0);
	assert_int_equal(outcome.error, 0);
	t->kind->drop(t, 7);
	assert_int_equal(t->kind->restore(t, 7, &err), -ENOENT);
	assert_int_equal(target_reset(t, NULL), 0);
	tree_free(&before);
	tree_free(&after);
	arena_free(&arena);
	target_close(t);
}

static void unknown_faults_and_targets_are_refused(void **state)
{
	struct target *t = NULL;
	struct err err = { 0 };

	assert_int_equal(target_open(&t, "reffs!nonsense", NULL, &err), -ENOENT);
	err = (struct err){ 0 };
	assert_int_equal(target_open(&t, "nonsense", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "assay targets"));
	err = (struct err){ 0 };
	assert_int_equal(target_open(&t, "reffs:x", NULL, &err), -EINVAL);
	assert_null(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_shows_at_the_end_of_its_script),
		cmocka_unit_test(faults_survive_random_calls),
		cmocka_unit_test(states_are_saved_and_restored),
		cmocka_unit_test(unknown_faults_and_targets_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
