/* test_plan.c -- plans: predicted step by step, followed up to the first mismatch, by one target or
 * by several; bounds of a universe. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "tests/harness/plans.h"

static struct universe tiny;

static int open_universe(void **state)
{
	struct err err = { 0 };

	return universe_open(&tiny, "tiny", NULL, 0, &err);
}

static int close_universe(void **state)
{
	universe_free(&tiny);
	return 0;
}

/* A target with a plan. */
struct planned {
	struct pair pair;
	struct predictor predictor;
	struct plan plan;
};

static void planned_open(struct planned *p, const char *spec)
{
	struct err err = { 0 };

	if (!pair_open(&p->pair, spec, 0, &err))
		fail_msg("%s", err.text);
	p->predictor = (struct predictor){ .model = &p->pair.model, .universe = &tiny };
	plan_init(&p->plan, &p->predictor, &p->pair.state);
}

static void planned_close(struct planned *p)
{
	plan_free(&p->plan);
	pair_close(&p->pair);
}

static const struct plan_step *planned_add(struct planned *p, const char *text, bool observe)
{
	struct call c = pair_call(&p->pair, text);

	return plan_add_any(&p->plan, &c, observe);
}

static struct plan_report planned_follow(struct planned *p)
{
	struct err err = { 0 };
	struct plan_report end;

	if (plan_follow(&p->plan, p->pair.target, &end, &err))
		fail_msg("%s", err.text);
	return end;
}

static void a_step_is_predicted_behind_the_one_before(void **state)
{
	struct planned p;

	planned_open(&p, "reffs");
	assert_int_equal(planned_add(&p, "mkdir(\"a\", 0755)", true)->expected.error, 0);
	assert_int_equal(planned_add(&p, "mkdir(\"a\", 0755)", true)->expected.error, EEXIST);
	assert_int_equal(planned_add(&p, "rmdir(\"a/b\")", true)->expected.error, ENOENT);
	assert_int_equal(planned_follow(&p).done, 3);
	plan_advance(&p.plan, 0, 3, &p.pair.state);
	assert_true(hash_equal(pair_seen(&p.pair), tree_hash(&p.pair.state.tree)));
	planned_close(&p);
}

static void bytes_of_outcomes_outlive_later_predictions(void **state)
{
	const struct plan_step *step;
	struct planned p;

	planned_open(&p, "reffs");
	planned_add(&p, "symlink(\"first\", \"a\")", false);
	planned_add(&p, "symlink(\"other\", \"b\")", false);
	planned_add(&p, "readlink(\"a\")", false);
	planned_add(&p, "readlink(\"b\")", false);
	step = &p.plan.steps[2];
	assert_int_equal(step->expected.len, strlen("first"));
	assert_memory_equal(step->expected.bytes, "first", step->expected.len);
	assert_int_equal(planned_follow(&p).done, p.plan.count);
	planned_close(&p);
}

static void a_plan_ends_at_the_first_mismatch_with_the_state_before_it(void **state)
{
	struct planned p;
	struct plan_report end;
	struct hash before;

	/* Its rmdir of a directory that is not empty gives another error. */
	planned_open(&p, "reffs!rmdir_enotempty");
	planned_add(&p, "mkdir(\"a\", 0755)", true);
	planned_add(&p, "mkdir(\"a/b\", 0755)", true);
	before = tree_hash(&p.plan.state.tree);
	planned_add(&p, "rmdir(\"a\")", true);
	planned_add(&p, "mkdir(\"c\", 0755)", true);
	end = planned_follow(&p);
	assert_int_equal(end.done, 2);
	assert_true(end.outcome_differs);
	assert_int_not_equal(end.outcome.error, ENOTEMPTY);
	plan_advance(&p.plan, 0, end.done, &p.pair.state);
	assert_true(hash_equal(tree_hash(&p.pair.state.tree), before));
	planned_close(&p);
}

static void a_new_plan_continues_behind_the_last_one(void **state)
{
	struct planned p;

	planned_open(&p, "reffs");
	planned_add(&p, "mkdir(\"a\", 0755)", true);
	assert_int_equal(planned_follow(&p).done, 1);
	plan_begin_behind(&p.plan);
	assert_int_equal(planned_add(&p, "mkdir(\"a\", 0755)", true)->expected.error, EEXIST);
	assert_int_equal(planned_follow(&p).done, 1);
	plan_begin(&p.plan, &p.pair.state); /* where nothing was made yet */
	assert_int_equal(planned_add(&p, "mkdir(\"a\", 0755)", true)->expected.error, 0);
	assert_int_equal(planned_follow(&p).done, 0);
	planned_close(&p);
}

static void known_steps_lead_to_the_state_that_is_given(void **state)
{
	struct planned p;
	struct state made;
	struct outcome outcome;
	struct call c;

	planned_open(&p, "reffs");
	c = pair_call(&p.pair, "mkdir(\"a\", 0755)");
	made = state_copy(&p.pair.state);
	model_run(&p.pair.model, &made, &c, &outcome);
	plan_add_known(&p.plan, &c, &outcome, &made.tree);
	plan_lead_to(&p.plan, &made);
	assert_int_equal(planned_add(&p, "rmdir(\"a\")", true)->expected.error, 0);
	assert_int_equal(planned_follow(&p).done, 2);
	state_free(&made);
	planned_close(&p);
}

static void follower_open(struct plan_follower *f, const char *spec)
{
	struct err err = { 0 };

	if (target_open(&f->target, spec, NULL, &err))
		fail_msg("%s", err.text);
	target_model(f->target, &f->model);
}

static void the_first_mismatch_of_several_targets_counts(void **state)
{
	const char *const specs[] = { "reffs", "reffs!chmod_bit", "reffs!rmdir_enotempty" };
	struct plan_follower followers[3] = { 0 };
	struct err err = { 0 };
	struct planned p;
	size_t done;

	planned_open(&p, "reffs");
	for (size_t i = 0; i < 3; i++)
		follower_open(&followers[i], specs[i]);
	planned_add(&p, "mkdir(\"a\", 0755)", true);
	planned_add(&p, "mkdir(\"a/b\", 0755)", true);
	planned_add(&p, "rmdir(\"a\")", true);
	planned_add(&p, "chmod(\"a\", 0777)", true);
	assert_int_equal(plan_follow_all(&p.plan, &p.pair.state, followers, 3, &done, &err), 0);
	assert_int_equal(done, 2);
	assert_int_equal(followers[0].end.done, 4);
	assert_int_equal(followers[1].end.done, 3);
	assert_true(followers[1].end.tree_differs);
	assert_int_equal(followers[2].end.done, 2);
	assert_true(followers[2].end.outcome_differs);
	for (size_t i = 0; i < 3; i++)
		target_close(followers[i].target);
	planned_close(&p);
}

static void what_the_model_of_one_target_forbids_is_a_mismatch_of_that_target(void **state)
{
	struct plan_follower followers[2] = { 0 };
	struct err err = { 0 };
	struct planned p;
	size_t done;

	planned_open(&p, "reffs");
	for (size_t i = 0; i < 2; i++)
		follower_open(&followers[i], "reffs");
	followers[1].model.traits.file_size_max = 10;
	planned_add(&p, "write_file(\"f\", O_CREAT|O_WRONLY, \"a\", 0, 10)", true);
	planned_add(&p, "truncate(\"f\", 11)", true);
	planned_add(&p, "unlink(\"f\")", true);
	assert_int_equal(plan_follow_all(&p.plan, &p.pair.state, followers, 2, &done, &err), 0);
	assert_int_equal(done, 1);
	assert_int_equal(followers[1].end.done, 1);
	assert_true(followers[1].end.outcome_differs);
	/* The other one has not gone beyond it. */
	assert_int_equal(followers[0].end.done, 2);
	for (size_t i = 0; i < 2; i++)
		target_close(followers[i].target);
	planned_close(&p);
}

static void calls_beyond_the_bounds_are_not_planned(void **state)
{
	char text[64];
	struct planned p;
	struct hash before;
	struct call c;

	planned_open(&p, "reffs");
	for (unsigned i = 0; i < tiny.nodes_max; i++) {
		snprintf(text, sizeof(text), "mkdir(\"d%u\", 0755)", i);
		c = pair_call(&p.pair, text);
		assert_non_null(plan_add(&p.plan, &c, true));
	}
	before = state_hash(&p.plan.state);
	c = pair_call(&p.pair, "mkdir(\"more\", 0755)");
	assert_null(plan_add(&p.plan, &c, true));
	assert_int_equal(p.plan.count, tiny.nodes_max);
	assert_true(hash_equal(state_hash(&p.plan.state), before));
	/* One that fails stays within. */
	c = pair_call(&p.pair, "mkdir(\"d0\", 0755)");
	assert_non_null(plan_add(&p.plan, &c, true));
	assert_int_equal(planned_follow(&p).done, p.plan.count);
	planned_close(&p);
}

/* Opening a fifo to read it would wait for somebody who writes. */
static void undefined_calls_are_planned_only_where_asked_for(void **state)
{
	const struct plan_step *step;
	struct planned p;
	struct call c;

	planned_open(&p, "reffs");
	planned_add(&p, "mknod(\"f\", S_IFIFO|0644, 0)", true);
	c = pair_call(&p.pair, "open(\"f\", O_RDONLY)");
	assert_null(plan_add(&p.plan, &c, true));
	assert_int_equal(p.plan.count, 1);
	step = plan_add_any(&p.plan, &c, true);
	assert_false(step->exact);
	planned_close(&p);
}

/* Nor is it known behind FUSE whether another name of the fifo leads to somebody. */
static void calls_that_one_target_leaves_undefined_are_not_planned(void **state)
{
	struct plan_follower followers[2] = { 0 };
	struct planned p;
	struct call store;
	struct outcome outcome;

	planned_open(&p, "reffs");
	for (size_t i = 0; i < 2; i++)
		follower_open(&followers[i], "reffs");
	p.predictor.followers = followers;
	p.predictor.follower_count = 2;
	store = pair_call(&p.pair, "map_write_file(\"f\", MAP_SHARED, \"abcd\", 4, 0)");
	planned_add(&p, "write_file(\"f\", O_CREAT|O_WRONLY, \"a\", 1, 0)", true);
	assert_true(predict(&p.predictor, &p.plan.state, &store, &outcome, NULL));
	/* What lies behind the end of the file shows there later. */
	followers[1].model.traits.map_tail_kept = true;
	assert_false(predict(&p.predictor, &p.plan.state, &store, &outcome, NULL));
	for (size_t i = 0; i < 2; i++)
		target_close(followers[i].target);
	planned_close(&p);
}

static void a_fifo_behind_fuse_is_not_opened_in_trust(void **state)
{
	struct planned p;
	struct call c;

	planned_open(&p, "reffs");
	planned_add(&p, "mknod(\"f\", S_IFIFO|0644, 0)", true);
	planned_add(&p, "open(\"f\", O_RDWR)", true);
	c = pair_call(&p.pair, "open(\"f\", O_WRONLY)");
	assert_non_null(plan_add(&p.plan, &c, true));
	p.pair.model.traits.times_cached = true;
	assert_null(plan_add(&p.plan, &c, true));
	planned_close(&p);
}

/* chown without ids: the kernel itself decides behind FUSE whether a setgid bit goes. */
static void a_setgid_bit_behind_fuse_stays_without_ids(void **state)
{
	const struct plan_step *step;
	struct planned p;

	planned_open(&p, "reffs");
	planned_add(&p, "[2] create_process(1000, 1000)", true);
	planned_add(&p, "mknod(\"f\", S_IFREG|0644, 0)", true);
	planned_add(&p, "chmod(\"f\", 02644)", true);
	step = planned_add(&p, "[2] chown(\"f\", -1, -1)", true);
	assert_int_equal(step->expected.error, EPERM);
	p.pair.model.traits.times_cached = true;
	step = planned_add(&p, "[2] chown(\"f\", -1, -1)", true);
	assert_int_equal(step->expected.error, 0);
	planned_close(&p);
}

static void many_steps_stay_in_order(void **state)
{
	enum { STEPS = 1000 };
	struct planned p;

	planned_open(&p, "reffs");
	for (unsigned i = 0; i < STEPS; i++)
		planned_add(&p, i % 2 ? "rmdir(\"a\")" : "mkdir(\"a\", 0755)", true);
	assert_int_equal(planned_follow(&p).done, STEPS);
	planned_close(&p);
}

/* The change time of "a" as a call that was predicted last leaves it. */
static struct time_change change_predicted(struct planned *p, const char *text)
{
	const struct plan_step *step = planned_add(p, text, true);

	assert_int_equal(step->expected.error, 0);
	assert_true(step->times.known);
	assert_int_equal(step->times.count, 1);
	return step->times.changes[0];
}

/* XSH chown: "if owner is (uid_t)-1 and group is (gid_t)-1, the file status change timestamp need
 * not be marked for update". */
static void chown_that_names_nobody_need_not_set_the_change_time(void **state)
{
	struct time_change change;
	struct planned p;

	planned_open(&p, "reffs");
	planned_add(&p, "mkdir(\"a\", 0755)", true);
	change = change_predicted(&p, "chown(\"a\", -1, -1)");
	assert_int_equal(change.must, 0);
	assert_int_equal(change.may, TIME_BIT_CHANGE);
	change = change_predicted(&p, "chown(\"a\", 0, -1)");
	assert_int_equal(change.must, TIME_BIT_CHANGE);
	planned_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_predicted_behind_the_one_before),
		cmocka_unit_test(bytes_of_outcomes_outlive_later_predictions),
		cmocka_unit_test(a_plan_ends_at_the_first_mismatch_with_the_state_before_it),
		cmocka_unit_test(a_new_plan_continues_behind_the_last_one),
		cmocka_unit_test(known_steps_lead_to_the_state_that_is_given),
		cmocka_unit_test(the_first_mismatch_of_several_targets_counts),
		cmocka_unit_test(what_the_model_of_one_target_forbids_is_a_mismatch_of_that_target),
		cmocka_unit_test(calls_beyond_the_bounds_are_not_planned),
		cmocka_unit_test(undefined_calls_are_planned_only_where_asked_for),
		cmocka_unit_test(calls_that_one_target_leaves_undefined_are_not_planned),
		cmocka_unit_test(a_fifo_behind_fuse_is_not_opened_in_trust),
		cmocka_unit_test(a_setgid_bit_behind_fuse_stays_without_ids),
		cmocka_unit_test(many_steps_stay_in_order),
		cmocka_unit_test(chown_that_names_nobody_need_not_set_the_change_time),
	};

	return cmocka_run_group_tests(tests, open_universe, close_universe);
}
