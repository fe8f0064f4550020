/* session.c -- scripts on a target: set-ups put in place, scripts followed, surprises judged. */
#include "conform/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "conform/restore.h"

/* A set-up's tree is compared after one in so many times that it is made again. */
enum { PROVE_EVERY = 16, DIFF_LINES_MAX = 8, REPEATS_MAX = 3 };

/* A set-up that was carried out once, as it turned out. */
struct base {
	bool known;
	struct state state;
	struct outcome *outcomes;
};

struct session {
	const struct suite *suite;
	struct target *target;
	struct model model, posix;
	struct state initial, state;
	struct base *bases; /* by number of the set-up */
	long in_place;      /* the set-up that is there, unchanged; -1: none */
	long people;        /* the set-up whose processes are there; -1: process 1 alone */
	bool lost;          /* what is there is not what the model thinks */
	bool changed;       /* a call has changed something since the set-up */
	struct plan_step *steps;
	size_t step_count, step_cap;
	size_t prefix; /* steps at the beginning that only bring the set-up about */
	struct call_list calls;
	struct arena arena, kept; /* of one script; of the session */
	struct session_figures figures;
};

const struct session_figures *session_figures(const struct session *s)
{
	return &s->figures;
}

int session_open(struct session **ret, const struct suite *suite,
		 const struct session_options *options, struct err *err)
{
	struct session *s = must_alloc(sizeof(*s));
	int r = target_open(&s->target, options->target, &options->target_options, err);

	if (!r)
		r = target_initial_state(s->target, &s->initial, err);
	if (r) {
		target_close(s->target);
		free(s);
		return r;
	}
	s->suite = suite;
	model_init(&s->model, options->platform, options->kernel);
	s->model.traits = s->target->traits;
	s->posix = s->model;
	s->posix.platform = PLATFORM_POSIX;
	s->model.rule_hits = s->figures.rule_hits;
	s->bases = must_alloc((suite->setup_count + 1) * sizeof(*s->bases));
	s->state = state_copy(&s->initial);
	s->in_place = s->people = -1;
	*ret = s;
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	target_close(s->target);
	for (size_t i = 0; i < s->suite->setup_count; i++)
		if (s->bases[i].known)
			state_free(&s->bases[i].state);
	state_free(&s->initial);
	state_free(&s->state);
	free(s->bases);
	free(s->steps);
	free(s->calls.items);
	arena_free(&s->arena);
	arena_free(&s->kept);
	free(s);
}

static void set_state(struct session *s, struct state state)
{
	state_free(&s->state);
	s->state = state;
}

/* What is done on the target's side is not time of the model. */
static int follow(struct session *s, struct plan_end *ret, struct err *err)
{
	double from = clock_seconds();
	int r = target_follow(s->target, s->steps, s->step_count, ret, err);

	s->figures.exec_seconds += clock_seconds() - from;
	return r;
}

static int observe(struct session *s, struct tree *ret, enum target_fate *ret_fate, struct err *err)
{
	double from = clock_seconds();
	int r = target_observe(s->target, ret, ret_fate, err);

	s->figures.exec_seconds += clock_seconds() - from;
	return r;
}

static int reset(struct session *s, struct err *err)
{
	double from = clock_seconds();
	int r = target_reset(s->target, err);

	s->figures.exec_seconds += clock_seconds() - from;
	s->figures.resets++;
	set_state(s, state_copy(&s->initial));
	s->in_place = s->people = -1;
	s->lost = false;
	return r;
}

static struct plan_step *add_step(struct session *s, const struct call *c)
{
	struct plan_step *step;

	if (s->step_count == s->step_cap) {
		s->step_cap = s->step_cap ? 2 * s->step_cap : 128;
		s->steps = must_realloc(s->steps, s->step_cap * sizeof(*s->steps));
	}
	step = &s->steps[s->step_count++];
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

/* Adds a call with what the model says that it will answer; `ahead` moves there. */
static struct plan_step *foresee(struct session *s, struct state *ahead, const struct call *c)
{
	struct plan_step *step = add_step(s, c);
	struct envelope env;

	model_move(&s->model, ahead, c, &env);
	env.value.error = env.first;
	/* One name after another comes in an order of the file system's own. */
	step->exact =
		!env.undefined && (env.first || env.value.result != RESULT_NAME || !env.names_len);
	if (step->exact)
		step->expected = outcome_copy(&env.value, &s->arena);
	s->changed |= changes(c, &env.value);
	return step;
}

/* Goes over to where the deterministic model is after these calls. */
static void move(struct session *s, const struct call *calls, size_t count)
{
	struct outcome outcome;

	for (size_t i = 0; i < count; i++)
		model_run(&s->model, &s->state, &calls[i], &outcome);
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

static void report_fate(struct deviation *d, enum target_fate fate, unsigned step,
			const struct call *c)
{
	begin_report(d, fate == FATE_HUNG ? FINDING_HANG : FINDING_DEATH, step, c);
	buf_adds(&d->allowed, "an answer");
	buf_adds(&d->seen, fate == FATE_HUNG ? "none in time" : "the file system is gone");
}

static void report_outcome(struct session *s, struct deviation *d, unsigned step,
			   const struct call *c, const struct outcome *seen,
			   const struct envelope *env, struct state *before)
{
	struct envelope posix;

	begin_report(d, FINDING_OUTCOME, step, c);
	deviation_say_seen(seen, env, &d->seen);
	deviation_say_allowed(env, &d->allowed);
	if (env->rule_count)
		buf_adds(&d->rule, rule_table[env->rules[0]].name);
	outcome_print(seen, c->op, DIALECT_NATIVE, &d->detail);
	buf_adds(&d->detail, ", allowed: ");
	envelope_print(env, c->op, DIALECT_NATIVE, &d->detail);
	d->outside_posix = model_step(&s->posix, before, c, seen, &posix) == VERDICT_BAD;
}

static void report_tree(struct session *s, struct deviation *d, unsigned step, const struct call *c,
			const struct tree *seen)
{
	begin_report(d, FINDING_TREE, step, c);
	buf_adds(&d->allowed, "the tree of the model");
	deviation_say_tree(&s->state.tree, seen, &d->seen);
	tree_diff(&s->state.tree, seen, DIFF_LINES_MAX, &d->detail);
}

/* A call that answered something else than foreseen; the state is the one before it. */
static enum script_fate judge(struct session *s, unsigned step, const struct call *c,
			      const struct outcome *seen, struct deviation *d)
{
	struct state before = state_copy(&s->state);
	enum script_fate fate = SCRIPT_ACCEPTED;
	struct envelope env;

	switch (model_step(&s->model, &s->state, c, seen, &env)) {
	case VERDICT_OK:
		break;
	case VERDICT_UNKNOWN:
		fate = SCRIPT_UNKNOWN;
		break;
	case VERDICT_BAD:
		fate = SCRIPT_REJECTED;
		report_outcome(s, d, step, c, seen, &env, &before);
		break;
	}
	s->changed |= changes(c, seen);
	state_free(&before);
	return fate;
}

static int compare_tree(struct session *s, unsigned step, const struct call *c,
			enum script_fate *ret, struct deviation *d, struct err *err)
{
	enum target_fate fate;
	struct tree seen;
	int r = observe(s, &seen, &fate, err);

	if (r)
		return r;
	if (fate != FATE_FINE) {
		report_fate(d, fate, step, c);
		*ret = SCRIPT_REJECTED;
		return 0;
	}
	if (!hash_equal(tree_hash(&seen), tree_hash(&s->state.tree))) {
		report_tree(s, d, step, c, &seen);
		*ret = SCRIPT_REJECTED;
	}
	tree_free(&seen);
	return 0;
}

/* The calls of one walk over the target, and how it went. */
struct walk {
	const struct call *calls;
	unsigned count;
	struct outcome *outcomes; /* to be filled, or NULL */
	enum script_fate fate;
	struct deviation *deviation; /* the first one */
	bool stopped;                /* the target hung or died */
	bool prefix_failed;          /* the set-up did not come about as before */
};

static void note_outcomes(struct session *s, struct walk *w, unsigned from, unsigned count,
			  const struct plan_end *end)
{
	const struct plan_step *steps = s->steps + s->prefix;

	for (unsigned i = 0; w->outcomes && i < count; i++)
		w->outcomes[from + i] = outcome_copy(&steps[i].expected, &s->kept);
	if (w->outcomes && from + count < w->count)
		w->outcomes[from + count] = outcome_copy(&end->outcome, &s->kept);
}

/* Judges what the plan ended at, call number `at`. */
static int judge_end(struct session *s, struct walk *w, unsigned at, const struct plan_end *end,
		     bool exact, struct err *err)
{
	const struct call *c = &w->calls[at];
	struct deviation later = { 0 };
	struct deviation *d = w->fate == SCRIPT_REJECTED ? &later : w->deviation;
	enum script_fate fate = SCRIPT_ACCEPTED;
	bool is_last = at + 1 == w->count;
	int r = 0;

	if (end->fate != FATE_FINE) {
		report_fate(d, end->fate, at, c);
		fate = SCRIPT_REJECTED;
		w->stopped = true;
	} else if (end->outcome_differs || !exact) {
		fate = judge(s, at, c, &end->outcome, d);
	} else {
		move(s, c, 1);
	}
	if (is_last && fate == SCRIPT_ACCEPTED && w->fate == SCRIPT_ACCEPTED)
		r = compare_tree(s, at, c, &fate, d, err);
	if (w->fate == SCRIPT_ACCEPTED)
		w->fate = fate;
	deviation_free(&later);
	return r;
}

/* One plan: the set-up, if it stands in front, and the calls from `at` on. */
static int walk_on(struct session *s, struct walk *w, unsigned *at, struct err *err)
{
	struct state ahead = state_copy(&s->state);
	unsigned i = *at; /* there is at least one call left */
	struct plan_step *step;
	struct plan_end end;
	size_t planned, done;
	int r;

	s->step_count = s->prefix;
	do
		step = foresee(s, &ahead, &w->calls[i]);
	while (++i < w->count);
	step->observe = w->fate == SCRIPT_ACCEPTED;
	step->tree = tree_hash(&ahead.tree);
	planned = s->step_count;
	r = follow(s, &end, err);
	if (r || end.done < s->prefix) {
		state_free(&ahead);
		w->prefix_failed = !r;
		return r;
	}
	/* What it answered may lie where the model puts its next answer. */
	end.outcome = outcome_copy(&end.outcome, &s->arena);
	done = end.done - s->prefix;
	note_outcomes(s, w, *at, (unsigned)done, &end);
	if (end.done == planned) {
		set_state(s, ahead);
		*at = w->count;
	} else {
		state_free(&ahead);
		move(s, &w->calls[*at], done);
		*at += (unsigned)done;
		r = judge_end(s, w, *at, &end, s->steps[end.done].exact, err);
		++*at;
	}
	s->prefix = 0;
	return r;
}

static int walk(struct session *s, struct walk *w, struct err *err)
{
	unsigned at = 0;
	int r = 0;

	while (at < w->count && !r && !w->stopped && !w->prefix_failed)
		r = walk_on(s, w, &at, err);
	s->lost |= w->stopped || w->fate != SCRIPT_ACCEPTED;
	return r;
}

/* What was seen takes the place of the model's tree: a set-up that deviates is still one. */
static int adopt(struct session *s, struct err *err)
{
	enum target_fate fate;
	struct tree seen;
	uint64_t pid;
	int r = observe(s, &seen, &fate, err);

	if (r)
		return r;
	if (fate != FATE_FINE)
		return err_set(err, EIO, "%s: a set-up cannot be looked at", s->target->name);
	tree_free(&s->state.tree);
	s->state.tree = seen;
	for (bool first = true; pmap_next(&s->state.processes, first, &pid); first = false)
		tree_hold(&s->state.tree, TREE_ROOT);
	tree_settle(&s->state.tree);
	s->lost = false;
	return 0;
}

static bool same_people(const struct session *s, unsigned setup)
{
	const struct setup *a = &s->suite->setups[setup], *b;

	if (s->people < 0)
		return !a->people;
	b = &s->suite->setups[s->people];
	for (unsigned i = 0; i < a->people && i < b->people; i++)
		if (!call_equal(&a->calls[i], &b->calls[i]))
			return false;
	return a->people == b->people;
}

/* Adds the calls that undo everything; false where they would not. */
static bool plan_restore(struct session *s, bool with_tree)
{
	struct state ahead = state_copy(&s->state);
	bool restored;

	s->calls.count = 0;
	restore_processes(&s->state, &s->calls, &s->arena);
	if (with_tree)
		restore_tree(&s->state, &s->initial, &s->calls, &s->arena);
	for (size_t i = 0; i < s->calls.count; i++)
		foresee(s, &ahead, &s->calls.items[i]);
	restored = !with_tree || hash_equal(tree_hash(&ahead.tree), tree_hash(&s->initial.tree));
	if (with_tree && restored)
		set_state(s, ahead);
	else
		state_free(&ahead);
	return restored;
}

/* Back to an empty file system, or nearly: the calls for it may be at the plan's beginning. */
static int plan_fresh(struct session *s, unsigned setup, struct err *err)
{
	s->step_count = 0;
	if (!s->lost && (s->people < 0 || same_people(s, setup)) && plan_restore(s, true))
		return 0;
	s->step_count = 0;
	return reset(s, err);
}

/* Carries a set-up out for the first time. What deviates in it is reported once. */
static int learn(struct session *s, unsigned number, struct walk *script, struct err *err)
{
	const struct setup *setup = &s->suite->setups[number];
	struct base *base = &s->bases[number];
	struct walk w = { .deviation = script->deviation };
	unsigned skip;
	int r = plan_fresh(s, number, err);

	skip = s->people >= 0 ? setup->people : 0;
	base->outcomes = arena_alloc(&s->kept, (setup->count + 1) * sizeof(struct outcome));
	w.calls = setup->calls + skip;
	w.count = setup->count - skip;
	w.outcomes = base->outcomes + skip;
	s->prefix = s->step_count;
	if (!r)
		r = walk(s, &w, err);
	if (r)
		return r;
	if (w.prefix_failed || w.stopped)
		return err_set(err, EIO, "%s: a set-up does not come about: %s", s->target->name,
			       buf_str(&w.deviation->call));
	script->fate = w.fate;
	if (w.fate != SCRIPT_ACCEPTED) {
		script->deviation->in_setup = true;
		r = adopt(s, err);
	}
	base->known = true;
	base->state = state_copy(&s->state);
	return r;
}

/* Plans what brings the set-up about; the state is that of the set-up then. */
static int plan_setup(struct session *s, unsigned number, struct err *err)
{
	const struct setup *setup = &s->suite->setups[number];
	const struct base *base = &s->bases[number];
	struct plan_step *step = NULL;
	int r = 0;

	s->step_count = 0;
	if (s->in_place == (long)number && !s->lost) {
		plan_restore(s, false);
		s->figures.reused++;
	} else {
		r = plan_fresh(s, number, err);
		for (unsigned i = s->people >= 0 ? setup->people : 0; i < setup->count; i++) {
			step = add_step(s, &setup->calls[i]);
			step->exact = true;
			step->expected = base->outcomes[i];
		}
		if (step && s->figures.setups++ % PROVE_EVERY == 0) {
			step->observe = true;
			step->tree = tree_hash(&base->state.tree);
		}
	}
	set_state(s, state_copy(&base->state));
	s->prefix = s->step_count;
	s->people = setup->people ? (long)number : -1;
	return r;
}

static int run(struct session *s, const struct suite_script *script, struct walk *w,
	       struct err *err)
{
	const struct base *base = &s->bases[script->setup];
	int r = 0;

	if (!base->known) {
		r = learn(s, script->setup, w, err);
		s->in_place = script->setup;
		s->people = s->suite->setups[script->setup].people ? (long)script->setup : -1;
		if (r || w->fate != SCRIPT_ACCEPTED)
			return r;
	}
	for (unsigned i = 0; i < REPEATS_MAX; i++) {
		r = plan_setup(s, script->setup, err);
		s->changed = false;
		w->prefix_failed = false;
		if (!r)
			r = walk(s, w, err);
		if (r || !w->prefix_failed)
			break;
		s->lost = true;
	}
	if (!r && w->prefix_failed)
		return err_set(err, EIO, "%s: a set-up does not come about again", s->target->name);
	s->changed |= !hash_equal(tree_hash(&s->state.tree), tree_hash(&base->state.tree));
	s->in_place = s->changed ? -1 : (long)script->setup;
	s->lost |= script->makes_people;
	return r;
}

int session_run(struct session *s, size_t number, enum script_fate *ret_fate, struct deviation *ret,
		struct err *err)
{
	const struct suite_script *script = &s->suite->scripts[number];
	struct walk w = { script->calls, script->count, .deviation = ret };
	double from = clock_seconds(), exec = s->figures.exec_seconds;
	int r = 0;

	deviation_clear(ret);
	ret->script = (uint32_t)number;
	ret->in_setup = false;
	arena_reset(&s->arena);
	if (script->needs & ~s->target->caps)
		w.fate = SCRIPT_SKIPPED;
	else
		r = run(s, script, &w, err);
	s->figures.calls += w.count;
	s->figures.check_seconds += clock_seconds() - from - (s->figures.exec_seconds - exec);
	*ret_fate = w.fate;
	return r;
}
