/* walk.c -- calls that the model foresees, followed at once, and judged where they surprise. */
#include "conform/walk.h"
#include "history/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/must.h"
#include "trace/script.h"

enum { DIFF_LINES_MAX = 8 };

void walker_set_state(struct walker *x, struct state state)
{
	state_free(&x->state);
	x->state = state;
}

/* What is done on the target's side is not time of the model. */
static int follow(struct walker *x, struct plan_end *ret, struct err *err)
{
	double from = clock_seconds();
	int r = target_follow(x->target, x->steps, x->step_count, ret, err);

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

struct plan_step *walker_add_step(struct walker *x, const struct call *c)
{
	struct plan_step *step;

	if (x->step_count == x->step_cap) {
		x->step_cap = x->step_cap ? 2 * x->step_cap : 128;
		x->steps = must_realloc(x->steps, x->step_cap * sizeof(*x->steps));
	}
	step = &x->steps[x->step_count++];
	memset(step, 0, sizeof(*step));
	step->call = *c;
	return step;
}

/* Has the call, with this answer, changed what a set-up is? */
static bool changes(const struct call *c, const struct outcome *o)
{
	unsigned traits = op_table[c->op].traits;

	return !o->error && !(traits & TRAIT_OPENS) &&
	       traits & (TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR | TRAIT_ALLOC);
}

struct plan_step *walker_foresee(struct walker *x, struct state *ahead, const struct call *c)
{
	struct plan_step *step = walker_add_step(x, c);
	struct envelope env;

	model_move(&x->model, ahead, c, &env);
	env.value.error = env.first;
	/* One name after another comes in an order of the file system's own. */
	step->exact =
		!env.undefined && (env.first || env.value.result != RESULT_NAME || !env.names_len);
	if (step->exact)
		step->expected = outcome_copy(&env.value, &x->arena);
	x->changed |= changes(c, &env.value);
	return step;
}

/* Goes over to where the deterministic model is after these calls. */
static void move(struct walker *x, const struct call *calls, size_t count)
{
	struct outcome outcome;

	for (size_t i = 0; i < count; i++)
		model_run(&x->model, &x->state, &calls[i], &outcome);
}

static void begin_report(struct deviation *d, enum finding_code code, unsigned step,
			 const struct call *c)
{
	deviation_clear(d);
	d->code = code;
	d->step = step;
	d->outside_posix = true;
	d->op = op_table[c->op].base;
	call_print(c, DIALECT_NATIVE, &d->call);
}

void walker_report_fate(struct deviation *d, enum target_fate fate, unsigned step,
			const struct call *c)
{
	begin_report(d,
		     fate == FATE_HUNG    ? FINDING_HANG
		     : fate == FATE_ALARM ? FINDING_KERNEL
					  : FINDING_DEATH,
		     step, c);
	buf_adds(&d->allowed, "an answer");
	buf_adds(&d->seen, fate == FATE_HUNG    ? "none in time"
			   : fate == FATE_ALARM ? "one, and the kernel complains"
						: "the file system is gone");
}

static void report_outcome(struct walker *x, struct deviation *d, unsigned step,
			   const struct call *c, const struct outcome *seen,
			   const struct envelope *env, struct state *before)
{
	struct envelope posix;

	begin_report(d, FINDING_OUTCOME, step, c);
	deviation_say_seen(seen, env, &d->seen);
	deviation_say_allowed(env, &d->allowed);
	if (env->rule_count && env->rules[0] != RULE_space_ended)
		buf_adds(&d->rule, rule_table[env->rules[0]].name);
	outcome_print(seen, c->op, DIALECT_NATIVE, &d->detail);
	buf_adds(&d->detail, ", allowed: ");
	envelope_print(env, c->op, DIALECT_NATIVE, &d->detail);
	d->outside_posix = model_step(&x->posix, before, c, seen, &posix) == VERDICT_BAD;
}

static void report_tree(struct walker *x, struct deviation *d, unsigned step, const struct call *c,
			const struct tree *seen)
{
	begin_report(d, FINDING_TREE, step, c);
	buf_adds(&d->allowed, "the tree of the model");
	deviation_say_tree(&x->state.tree, seen, &d->seen);
	tree_diff(&x->state.tree, seen, DIFF_LINES_MAX, &d->detail);
}

enum script_fate walker_judge(struct walker *x, unsigned step, const struct call *c,
			      const struct outcome *seen, struct deviation *d, struct envelope *ret)
{
	struct state before = state_copy(&x->state);
	enum script_fate fate = SCRIPT_ACCEPTED;

	switch (model_step(&x->model, &x->state, c, seen, ret)) {
	case VERDICT_OK:
		break;
	case VERDICT_UNKNOWN:
		fate = SCRIPT_UNKNOWN;
		break;
	case VERDICT_BAD:
		fate = SCRIPT_REJECTED;
		report_outcome(x, d, step, c, seen, ret, &before);
		break;
	}
	x->changed |= changes(c, seen);
	state_free(&before);
	return fate;
}

static int compare_tree(struct walker *x, unsigned step, const struct call *c,
			enum script_fate *ret, struct deviation *d, struct err *err)
{
	enum target_fate fate;
	struct tree seen;
	int r = walker_observe(x, &seen, &fate, err);

	if (r)
		return r;
	if (fate != FATE_FINE) {
		walker_report_fate(d, fate, step, c);
		*ret = SCRIPT_REJECTED;
		return 0;
	}
	if (!hash_equal(tree_hash(&seen), tree_hash(&x->state.tree))) {
		report_tree(x, d, step, c, &seen);
		*ret = SCRIPT_REJECTED;
	}
	tree_free(&seen);
	return 0;
}

static void note_outcomes(struct walker *x, struct walk *w, unsigned from, unsigned count,
			  const struct plan_end *end)
{
	const struct plan_step *steps = x->steps + x->prefix;

	for (unsigned i = 0; w->outcomes && i < count; i++)
		w->outcomes[from + i] = outcome_copy(&steps[i].expected, &x->kept);
	if (w->outcomes && from + count < w->count)
		w->outcomes[from + count] = outcome_copy(&end->outcome, &x->kept);
}

/* Judges what the plan ended at, call number `at`. */
static int judge_end(struct walker *x, struct walk *w, unsigned at, const struct plan_end *end,
		     bool exact, struct err *err)
{
	const struct call *c = &w->calls[at];
	struct deviation later = { 0 };
	struct deviation *d = w->fate == SCRIPT_REJECTED ? &later : w->deviation;
	enum script_fate fate = SCRIPT_ACCEPTED;
	struct envelope env;
	bool look = !w->blind && (w->closely || at + 1 == w->count);
	int r = 0;

	if (end->fate != FATE_FINE) {
		walker_report_fate(d, end->fate, at, c);
		fate = SCRIPT_REJECTED;
		w->stopped = true;
	} else if (end->outcome_differs || !exact) {
		fate = walker_judge(x, at, c, &end->outcome, d, &env);
	} else {
		move(x, c, 1);
	}
	if (look && fate == SCRIPT_ACCEPTED && w->fate == SCRIPT_ACCEPTED)
		r = compare_tree(x, at, c, &fate, d, err);
	if (w->fate == SCRIPT_ACCEPTED)
		w->fate = fate;
	deviation_free(&later);
	return r;
}

int walker_prefix(struct walker *x, struct walk *w, struct err *err)
{
	struct plan_end end;
	int r;

	if (!x->prefix)
		return 0;
	x->step_count = x->prefix;
	r = follow(x, &end, err);
	w->prefix_failed = !r && end.done < x->prefix;
	x->prefix = 0;
	return r;
}

/* One plan: the set-up, if it stands in front, and the calls from `at` on. */
static int walk_on(struct walker *x, struct walk *w, unsigned *at, struct err *err)
{
	struct state ahead = state_copy(&x->state);
	struct plan_step *step;
	struct plan_end end;
	size_t planned, done;
	int r;

	x->step_count = x->prefix;
	for (unsigned i = *at; i < w->count; i++) {
		step = walker_foresee(x, &ahead, &w->calls[i]);
		step->observe = w->fate == SCRIPT_ACCEPTED && !w->blind &&
				(w->closely || i + 1 == w->count);
		step->tree = tree_hash(&ahead.tree);
	}
	planned = x->step_count;
	r = follow(x, &end, err);
	if (r || end.done < x->prefix) {
		state_free(&ahead);
		w->prefix_failed = !r;
		return r;
	}
	/* What it answered may lie where the model puts its next answer. */
	end.outcome = outcome_copy(&end.outcome, &x->arena);
	done = end.done - x->prefix;
	note_outcomes(x, w, *at, (unsigned)done, &end);
	if (end.done == planned) {
		walker_set_state(x, ahead);
		*at = w->count;
	} else {
		state_free(&ahead);
		move(x, &w->calls[*at], done);
		*at += (unsigned)done;
		r = judge_end(x, w, *at, &end, x->steps[end.done].exact, err);
		++*at;
	}
	x->prefix = 0;
	return r;
}

int walker_walk(struct walker *x, struct walk *w, struct err *err)
{
	unsigned at = 0;
	int r = 0;

	while (at < w->count && !r && !w->stopped && !w->prefix_failed)
		r = walk_on(x, w, &at, err);
	return r;
}
