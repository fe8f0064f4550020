/* test_search.c -- a search that lacks memory, room for saved states or a target that obeys: it
 * visits the same, or ends with a reason, and counts right.
 *
 * The target is RefFS with some of what it does replaced. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "explore/explore.h"
#include "tests/harness/unit.h"

static const struct target_kind *whole;
enum { KEYS_MAX = 1 << 16 };
static bool is_saved[KEYS_MAX];
static unsigned saved, saved_most, saved_room; /* states; room 0: no end of it */
static unsigned resets, resets_failing;

static int counted_save(struct target *t, uint64_t key, struct err *err)
{
	int status;

	if (saved_room && saved >= saved_room)
		return err_set(err, ENOMEM, "no room for another state");
	assert_true(key < KEYS_MAX && !is_saved[key]);
	status = whole->save(t, key, err);
	is_saved[key] = true;
	if (++saved > saved_most)
		saved_most = saved;
	return status;
}

static void counted_drop(struct target *t, uint64_t key)
{
	saved -= is_saved[key];
	is_saved[key] = false;
	whole->drop(t, key);
}

static int failing_reset(struct target *t, struct err *err)
{
	if (resets++ && resets_failing) {
		resets_failing--;
		return err_set(err, EBUSY, "somebody looks at it");
	}
	return whole->reset(t, err);
}

/* Every call that is to succeed is said to have killed the file system. */
static int deadly_follow(struct target *t, const struct plan_step *steps, size_t count,
			 struct plan_report *ret, struct err *err)
{
	int status = whole->follow(t, steps, count, ret, err);

	for (size_t i = 0; i < ret->done; i++)
		if (!steps[i].expected.error) {
			ret->done = i;
			ret->fate = FATE_DIED;
		}
	return status;
}

struct search {
	struct explore_options options;
	const char *target, *profile;
	struct target_kind kind; /* what replaces the target's own */
	size_t findings;
	struct err err;
};

static struct search search_of(enum strategy strategy)
{
	return (struct search){
		.options = { .strategy = strategy,
			     .seed = 3,
			     .depth_max = 1000,
			     .memory_max = 1 << 24,
			     .verify_every = 1,
			     .findings_max = 10,
			     .shrink_tries = 100,
			     .verify_times = 2,
			     .adaptive = true,
			     .checkpoint_seconds = 1000,
			     .kernel_log = "/dev/null" },
		.target = "reffs",
		.profile = "tiny",
	};
}

static int search_run(struct search *s, struct explore_figures *ret)
{
	char dir[] = "/tmp/assay-search-XXXXXX", command[64];
	struct target_kind kind;
	struct universe u;
	struct target *t;
	struct cover cover;
	struct run run;
	int status;

	assert_non_null(mkdtemp(dir));
	if (target_open(&t, s->target, NULL, &s->err) ||
	    universe_open(&u, s->profile, NULL, 0, &s->err) ||
	    run_open(&run, "explore", t->name, dir, s->options.seed, &s->err))
		fail_msg("%s", s->err.text);
	whole = t->kind;
	kind = *whole;
	if (s->kind.save)
		kind.save = s->kind.save;
	if (s->kind.drop)
		kind.drop = s->kind.drop;
	if (s->kind.reset)
		kind.reset = s->kind.reset;
	if (s->kind.follow)
		kind.follow = s->kind.follow;
	t->kind = &kind;
	cover_init(&cover);
	status = explore(&s->options, t, &u, &run, &cover, ret, &s->err);
	s->findings = json_array_size(run.findings);
	cover_free(&cover);
	run_free(&run);
	universe_free(&u);
	target_close(t);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	return status;
}

static void must_run(struct search *s, struct explore_figures *ret)
{
	if (search_run(s, ret))
		fail_msg("%s", s->err.text);
}

static void same_visits(const struct explore_figures *a, const struct explore_figures *b)
{
	assert_int_equal(a->states, b->states);
	assert_int_equal(a->transitions, b->transitions);
	assert_int_equal(a->beyond, b->beyond);
	assert_int_equal(a->edges_left, b->edges_left);
	assert_string_equal(a->end, b->end);
}

static bool branches(enum strategy s)
{
	return strategy_branches(s);
}

/* However few states are saved, and with bits only, the same is visited. */
static void bounds_change_nothing(void **state)
{
	static const unsigned bounds[] = { 1, 2, 7, 40 };
	struct explore_figures free, bound;

	for (enum strategy s = 0; s < STRATEGIES; s++) {
		struct search search = search_of(s);

		if (!branches(s))
			continue;
		search.kind.save = counted_save;
		search.kind.drop = counted_drop;
		must_run(&search, &free);
		assert_int_equal(free.edges_left, 0);
		assert_true(saved_most > 8);
		for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
			for (int bits = 0; bits < 2; bits++) {
				search.options.saved_max = bounds[i];
				search.options.bitstate = bits;
				saved_most = 0;
				must_run(&search, &bound);
				assert_int_equal(saved, 0);
				same_visits(&free, &bound);
				/* One more: where the search began. */
				assert_true(saved_most <= bounds[i] + 1);
				assert_true(bound.calls >= free.calls);
			}
	}
}

/* The default bound follows from the memory. */
static void memory_bounds_states(void **state)
{
	struct search search = search_of(STRATEGY_BFS);
	struct explore_figures figures;

	search.kind.save = counted_save;
	search.kind.drop = counted_drop;
	search.profile = "default";
	search.options.memory_max = 300000;
	saved_most = 0;
	must_run(&search, &figures);
	assert_string_equal(figures.end, "memory");
	assert_true(saved_most < 40);
}

/* A target that has no room for more states gets along with fewer. */
static void shortage_lowers_the_bound(void **state)
{
	struct explore_figures free, bound;

	for (enum strategy s = 0; s < STRATEGIES; s++) {
		struct search search = search_of(s);

		if (!branches(s))
			continue;
		saved_room = 0;
		must_run(&search, &free);
		search.kind.save = counted_save;
		search.kind.drop = counted_drop;
		saved_room = 5;
		must_run(&search, &bound);
		same_visits(&free, &bound);
	}
	saved_room = 0;
}

static void findings_show_under_a_bound(void **state)
{
	struct explore_figures figures;

	for (enum strategy s = 0; s < STRATEGIES; s++)
		for (int bits = 0; branches(s) && bits < 2; bits++) {
			struct search search = search_of(s);

			search.target = "reffs!unlink_shared";
			search.options.saved_max = 2;
			search.options.bitstate = bits;
			must_run(&search, &figures);
			assert_int_equal(search.findings, 1);
		}
}

/* Where nothing but the first state can be reached, what is left is what it has left: nothing. */
static void left_calls_do_not_wrap(void **state)
{
	struct explore_figures figures;

	for (enum strategy s = 0; s < STRATEGIES; s++) {
		struct search search = search_of(s);

		if (s == STRATEGY_RANDOM)
			continue;
		search.kind.follow = deadly_follow;
		search.options.findings_max = 1000;
		search.options.shrink_tries = search.options.verify_times = 1;
		search.options.seconds = 20;
		must_run(&search, &figures);
		assert_int_equal(figures.states, 1);
		assert_int_equal(figures.edges_left, 0);
	}
}

/* A history that is too long begins anew, and what is found later is found in whole. */
static void long_histories_begin_anew(void **state)
{
	struct search search = search_of(STRATEGY_TOUR);
	struct explore_figures figures;

	search.profile = "default";
	search.options.history_max = 500;
	search.options.calls = 20000;
	must_run(&search, &figures);
	assert_true(figures.resets >= 20000 / 700);
	/* Hardly a call was made twice in the same state: those by which the tour left one. */
	assert_true(figures.transitions > figures.calls / 10 * 9);
	search.target = "reffs!unlink_shared";
	search.options.findings_max = 1;
	must_run(&search, &figures);
	assert_int_equal(search.findings, 1);
}

/* What fails for a moment does not end a search; what goes on failing does, with its reason. */
static void resets_are_tried_again(void **state)
{
	struct search search = search_of(STRATEGY_TOUR);
	struct explore_figures figures;

	search.options.history_max = 500;
	search.options.calls = 2000;
	search.kind.reset = failing_reset;
	resets = 0;
	resets_failing = 2;
	must_run(&search, &figures);
	assert_int_equal(figures.calls, 2000);
	assert_int_equal(resets_failing, 0);
	resets = 0;
	resets_failing = 1000;
	assert_int_equal(search_run(&search, &figures), -EBUSY);
	assert_string_equal(search.err.text, "somebody looks at it");
	assert_int_equal(search.findings, 0);
	assert_true(figures.calls >= 500); /* what was done is told */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_change_nothing),
		cmocka_unit_test(memory_bounds_states),
		cmocka_unit_test(shortage_lowers_the_bound),
		cmocka_unit_test(findings_show_under_a_bound),
		cmocka_unit_test(left_calls_do_not_wrap),
		cmocka_unit_test(long_histories_begin_anew),
		cmocka_unit_test(resets_are_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
