/* walk.c -- calls that the model predicts, followed in one plan, and judged where they mismatch. */
#include "conform/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "judge/judge.h"

void walker_set_state(struct walker *x, struct state state)
{
	state_free(&x->state);
	x->state = state;
}

/* The target's time is not the model's. */
static int walker_follow(struct walker *x, struct plan_report *ret, struct err *err)
{
	double from = clock_seconds();
	int r = plan_follow(&x->plan, x->target, ret, err);

	x->figures.exec_seconds += clock_seconds() - from;
	return r;
}

int walker_observe(struct walker *x, struct tree *ret, enum target_fate *ret_fate, struct err *err)
{
	double from = clock_seconds();
	int r = target_observe(x->target, ret, ret_fate, err);

	x->figures.exec_seconds += clock_seconds() - from;
	return r;
}

/* Has the call, with this answer, changed what a set-up is? */
static bool call_changes(const struct call *c, const struct outcome *o)
{
	unsigned traits = op_table[c->op].traits;

	return !o->error && !(traits & TRAIT_OPENS) &&
	       traits & (TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR | TRAIT_ALLOC);
}

void walker_predict(struct walker *x, const struct call *c, bool observe)
{
	const struct plan_step *step = plan_add_any(&x->plan, c, observe);

	x->changed |= call_changes(c, &step->expected);
}

void walker_report_fate(struct walker *x, struct deviation *d, enum target_fate fate, unsigned step,
			const struct call *c)
{
	struct discrepancy found;

	discrepancy_init(&found);
	judge_describe_fate(x->target, c, fate, &found);
	deviation_fill(d, &found, step);
	discrepancy_free(&found);
}

enum script_fate walker_judge(struct walker *x, unsigned step, const struct call *c,
			      const struct outcome *seen, struct deviation *d, struct envelope *ret)
{
	enum script_fate fate = SCRIPT_ACCEPTED;
	struct discrepancy found;

	discrepancy_init(&found);
	switch (judge_outcome(&x->model, &x->state, c, seen, ret, &found)) {
	case VERDICT_OK:
		break;
	case VERDICT_UNKNOWN:
		fate = SCRIPT_UNKNOWN;
		break;
	case VERDICT_BAD:
		fate = SCRIPT_REJECTED;
		deviation_fill(d, &found, step);
		break;
	}
	discrepancy_free(&found);
	x->changed |= call_changes(c, seen);
	return fate;
}

static int walk_compare_tree(struct walker *x, unsigned step, const struct call *c,
			     enum script_fate *ret, struct deviation *d, struct err *err)
{
	struct discrepancy found;
	enum target_fate fate;
	struct tree seen;
	int r = walker_observe(x, &seen, &fate, err);

	if (r)
		return r;
	if (fate != FATE_FINE) {
		walker_report_fate(x, d, fate, step, c);
		*ret = SCRIPT_REJECTED;
		return 0;
	}
	discrepancy_init(&found);
	if (judge_tree(&x->state, c, &seen, &found) == VERDICT_BAD) {
		deviation_fill(d, &found, step);
		*ret = SCRIPT_REJECTED;
	}
	discrepancy_free(&found);
	tree_free(&seen);
	return 0;
}

/* Keeps the outcomes of `count` steps that went as planned, and of the one that mismatched. */
static void walk_keep_outcomes(struct walker *x, struct script_walk *w, unsigned from,
			       const struct plan_step *steps, unsigned count,
			       const struct plan_report *end)
{
	for (unsigned i = 0; w->outcomes && i < count; i++)
		w->outcomes[from + i] = outcome_copy(&steps[i].expected, &x->kept);
	if (w->outcomes && from + count < w->count)
		w->outcomes[from + count] = outcome_copy(&end->outcome, &x->kept);
}

/* Judges call number `at`, at which the plan ended. */
static int walk_judge_mismatch(struct walker *x, struct script_walk *w, unsigned at,
			       const struct plan_report *end, struct err *err)
{
	const struct call *c = &w->calls[at];
	struct deviation later = { 0 };
	struct deviation *d = w->fate == SCRIPT_REJECTED ? &later : w->deviation;
	enum script_fate fate = SCRIPT_ACCEPTED;
	struct outcome outcome;
	struct envelope env;
	bool look = !w->blind && (w->closely || at + 1 == w->count);
	int r = 0;

	if (end->fate != FATE_FINE) {
		walker_report_fate(x, d, end->fate, at, c);
		fate = SCRIPT_REJECTED;
		w->stopped = true;
	} else if (end->outcome_differs || !x->plan.steps[end->done].exact) {
		fate = walker_judge(x, at, c, &end->outcome, d, &env);
	} else {
		model_run(&x->model, &x->state, c, &outcome);
	}
	if (look && fate == SCRIPT_ACCEPTED && w->fate == SCRIPT_ACCEPTED)
		r = walk_compare_tree(x, at, c, &fate, d, err);
	if (w->fate == SCRIPT_ACCEPTED)
		w->fate = fate;
	deviation_free(&later);
	return r;
}

int walker_prefix(struct walker *x, struct script_walk *w, struct err *err)
{
	struct plan_report end;
	int r;

	if (!x->plan.count)
		return 0;
	r = walker_follow(x, &end, err);
	w->prefix_failed = !r && end.done < x->plan.count;
	return r;
}

/* One plan: the steps that are there already, and the calls from *at on. */
static int walk_some(struct walker *x, struct script_walk *w, unsigned *at, struct err *err)
{
	size_t prefix = x->plan.count;
	struct plan_report end;
	unsigned done;
	bool look;
	int r;

	plan_lead_to(&x->plan, &x->state);
	for (unsigned i = *at; i < w->count; i++) {
		look = w->fate == SCRIPT_ACCEPTED && !w->blind && (w->closely || i + 1 == w->count);
		walker_predict(x, &w->calls[i], look);
	}
	r = walker_follow(x, &end, err);
	if (r || end.done < prefix) {
		w->prefix_failed = !r;
		return r;
	}
	done = (unsigned)(end.done - prefix);
	walk_keep_outcomes(x, w, *at, x->plan.steps + prefix, done, &end);
	plan_advance(&x->plan, prefix, end.done, &x->state);
	*at += done;
	if (end.done == x->plan.count)
		return 0;
	r = walk_judge_mismatch(x, w, *at, &end, err);
	++*at;
	plan_begin(&x->plan, &x->state);
	return r;
}

int walker_walk(struct walker *x, struct script_walk *w, struct err *err)
{
	unsigned at = 0;
	int r = 0;

	while (at < w->count && !r && !w->stopped && !w->prefix_failed)
		r = walk_some(x, w, &at, err);
	return r;
}
