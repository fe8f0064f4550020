/* session.c -- scripts on a target: set-ups put in place, scripts followed, mismatches judged. */
#include "conform/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/limits.h"
#include "conform/race.h"
#include "conform/restore.h"
#include "conform/times.h"

/* A set-up's tree is compared after one in so many times that it is made again. */
enum { PROVE_EVERY = 16, REPEATS_MAX = 3, FAILURES_MAX = 100 };

/* A set-up that was carried out once, as it turned out. */
struct known_setup {
	bool known;
	bool blind; /* its tree is not the model's and cannot be: trees do not count */
	struct state state;
	struct outcome *outcomes;
};

struct session {
	const struct suite *suite;
	struct walker walker;
	struct state initial;
	struct known_setup *bases; /* by number of the set-up */
	long in_place;             /* the set-up that is there, unchanged; -1: none */
	long tasks;                /* the set-up whose processes are there; -1: process 1 alone */
	bool lost;                 /* what is there is not what the model thinks */
	bool broken;               /* it hung, died, or does not become empty by removing things */
	bool unproven;             /* its tree was not compared since it was emptied */
	unsigned failures;         /* to carry out a script at all */
	unsigned repeat;           /* of each race */
	struct scheduled_options schedules;
	uint64_t seed; /* of the next race */
	struct call_list calls;
};

const struct session_figures *session_figures(const struct session *s)
{
	return &s->walker.figures;
}

void session_model(const struct session_options *o, const struct target *t, struct model *ret)
{
	target_model(t, ret);
	ret->platform = o->platform;
	if (version_known(o->kernel))
		ret->kernel = o->kernel;
}

int session_open(struct session **ret, const struct suite *suite,
		 const struct session_options *options, struct err *err)
{
	struct session *s = must_alloc(sizeof(*s));
	int r = target_open(&s->walker.target, options->target, &options->target_options, err);

	if (!r)
		r = target_initial_state(s->walker.target, &s->initial, err);
	if (r) {
		target_close(s->walker.target);
		free(s);
		return r;
	}
	s->suite = suite;
	s->schedules = options->schedules;
	s->repeat = s->schedules.preemptions ? 1 : options->repeat;
	session_model(options, s->walker.target, &s->walker.model);
	model_name(&s->walker.model, s->walker.figures.judged_by);
	s->walker.model.rule_hits = s->walker.figures.rule_hits;
	s->bases = must_alloc((suite->setup_count + 1) * sizeof(*s->bases));
	s->walker.state = state_copy(&s->initial);
	s->walker.predictor.model = &s->walker.model;
	plan_init(&s->walker.plan, &s->walker.predictor, &s->initial);
	s->in_place = s->tasks = -1;
	*ret = s;
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	target_close(s->walker.target);
	for (size_t i = 0; i < s->suite->setup_count; i++)
		if (s->bases[i].known)
			state_free(&s->bases[i].state);
	state_free(&s->initial);
	state_free(&s->walker.state);
	free(s->bases);
	plan_free(&s->walker.plan);
	free(s->calls.items);
	arena_free(&s->walker.arena);
	arena_free(&s->walker.kept);
	free(s);
}

static int session_reset(struct session *s, struct err *err)
{
	double from = clock_seconds();
	int r = s->broken ? target_reset(s->walker.target, err)
			  : target_clear(s->walker.target, err);

	s->walker.figures.exec_seconds += clock_seconds() - from;
	s->walker.figures.resets++;
	walker_set_state(&s->walker, state_copy(&s->initial));
	s->in_place = s->tasks = -1;
	s->lost = s->broken = false;
	s->unproven = true;
	return r;
}

static int session_walk(struct session *s, struct script_walk *w, struct err *err)
{
	int r = w->setup_calls ? s->schedules.preemptions
				       ? scheduled_walk(&s->walker, w, &s->schedules, err)
				       : race_walk(&s->walker, w, s->seed++, err)
	      : w->times ? times_walk(&s->walker, w, err)
			       : walker_walk(&s->walker, w, err);

	s->lost |= w->stopped || w->fate != SCRIPT_ACCEPTED;
	s->broken |= w->stopped;
	return r;
}

/* What was seen takes the place of the model's tree: a set-up that deviates is still one. Not so
 * where something is open in it, or where it is none that a model could have. */
static int session_adopt(struct session *s, const struct setup *setup, bool *ret_blind,
			 struct err *err)
{
	enum target_fate fate;
	struct tree seen;
	uint64_t pid;
	int r = walker_observe(&s->walker, &seen, &fate, err);

	if (r)
		return r;
	if (fate != FATE_FINE)
		return err_set(err, EIO, "%s: a set-up cannot be looked at",
			       s->walker.target->name);
	*ret_blind = setup->opens || !tree_is_sound(&seen);
	if (*ret_blind) {
		tree_free(&seen);
		return 0;
	}
	tree_free(&s->walker.state.tree);
	s->walker.state.tree = seen;
	for (bool first = true; pmap_next(&s->walker.state.processes, first, &pid); first = false)
		tree_hold(&s->walker.state.tree, TREE_ROOT);
	tree_settle(&s->walker.state.tree);
	s->lost = false;
	return 0;
}

static bool session_has_processes_of(const struct session *s, unsigned setup)
{
	const struct setup *a = &s->suite->setups[setup], *b;

	if (s->tasks < 0)
		return !a->tasks;
	b = &s->suite->setups[s->tasks];
	for (unsigned i = 0; i < a->tasks && i < b->tasks; i++)
		if (!call_equal(&a->calls[i], &b->calls[i]))
			return false;
	return a->tasks == b->tasks;
}

/* Plans the calls that undo everything; false where they would not. */
static bool session_plan_restore(struct session *s, bool with_tree)
{
	struct walker *x = &s->walker;

	plan_begin(&x->plan, &x->state);
	s->calls.count = 0;
	restore_processes(&x->state, &s->calls, &x->arena);
	if (with_tree)
		restore_tree(&x->state, &s->initial, &s->calls, &x->arena);
	for (size_t i = 0; i < s->calls.count; i++)
		walker_predict(x, &s->calls.items[i], false);
	if (!with_tree)
		return true;
	if (!hash_equal(tree_hash(&x->plan.state.tree), tree_hash(&s->initial.tree)) ||
	    state_has_handles(&x->plan.state))
		return false;
	walker_set_state(x, state_copy(&x->plan.state));
	return true;
}

/* Back to an empty file system, or nearly: the plan has the calls for it. */
static int session_plan_fresh(struct session *s, unsigned setup, struct err *err)
{
	int r;

	if (!s->lost && (s->tasks < 0 || session_has_processes_of(s, setup)) &&
	    session_plan_restore(s, true))
		return 0;
	r = session_reset(s, err);
	plan_begin(&s->walker.plan, &s->walker.state);
	return r;
}

/* Carries a set-up out for the first time. What deviates in it is reported once. */
static int session_learn(struct session *s, unsigned number, struct script_walk *script,
			 struct err *err)
{
	const struct setup *setup = &s->suite->setups[number];
	struct known_setup *base = &s->bases[number];
	struct script_walk w = { .deviation = script->deviation };
	unsigned skip;
	int r = session_plan_fresh(s, number, err);

	skip = s->tasks >= 0 ? setup->tasks : 0;
	base->outcomes = arena_alloc(&s->walker.kept, (setup->count + 1) * sizeof(struct outcome));
	w.calls = setup->calls + skip;
	w.count = setup->count - skip;
	w.outcomes = base->outcomes + skip;
	if (!r)
		r = session_walk(s, &w, err);
	if (r)
		return r;
	if (w.prefix_failed || w.stopped)
		return err_set(err, EIO, "%s: a set-up does not come about: %s",
			       s->walker.target->name, buf_str(&w.deviation->call));
	script->fate = w.fate;
	if (w.fate != SCRIPT_ACCEPTED) {
		script->deviation->in_setup = true;
		r = session_adopt(s, setup, &base->blind, err);
	}
	base->known = true;
	base->state = state_copy(&s->walker.state);
	return r;
}

/* Plans what brings the set-up about; the state is that of the set-up then. */
static int session_plan_setup(struct session *s, unsigned number, struct err *err)
{
	const struct setup *setup = &s->suite->setups[number];
	const struct known_setup *base = &s->bases[number];
	struct walker *x = &s->walker;
	bool look;
	int r = 0;

	if (s->in_place == (long)number && !s->lost && !setup->opens && !setup->cold &&
	    !state_has_handles(&x->state)) {
		session_plan_restore(s, false);
		x->figures.reused++;
	} else {
		r = session_plan_fresh(s, number, err);
		look = !base->blind && !setup->cold &&
		       (s->unproven || x->figures.setups % PROVE_EVERY == 0);
		for (unsigned i = s->tasks >= 0 ? setup->tasks : 0; i < setup->count; i++)
			plan_add_known(&x->plan, &setup->calls[i], &base->outcomes[i],
				       look && i + 1 == setup->count ? &base->state.tree : NULL);
		x->figures.setups++;
	}
	walker_set_state(x, state_copy(&base->state));
	s->tasks = setup->tasks ? (long)number : -1;
	return r;
}

/* The set-up, and the script behind it. */
static int session_attempt(struct session *s, unsigned setup, struct script_walk *w,
			   struct err *err)
{
	int r = 0;

	for (unsigned i = 0; i < REPEATS_MAX; i++) {
		r = session_plan_setup(s, setup, err);
		s->walker.changed = false;
		w->prefix_failed = false;
		if (!r)
			r = session_walk(s, w, err);
		s->unproven = false;
		if (r || !w->prefix_failed)
			return r;
		s->lost = s->broken = true;
	}
	return err_set(err, EIO, "%s: a set-up does not come about again", s->walker.target->name);
}

/* The tree was compared at the end only. A second walk compares it after every call, to find the
 * call that went wrong. */
static int session_pinpoint(struct session *s, const struct suite_script *script,
			    struct script_walk *w, struct err *err)
{
	struct deviation again = { .script = w->deviation->script };
	struct script_walk closely = {
		.calls = w->calls,
		.count = w->count,
		.closely = true,
		.deviation = &again,
	};
	int r = session_attempt(s, script->setup, &closely, err);

	if (!r && closely.fate == SCRIPT_REJECTED) {
		struct deviation first = *w->deviation;

		*w->deviation = again;
		again = first;
	}
	deviation_free(&again);
	return r;
}

/* The same race again and again, until nothing explains what it shows. */
static int session_run_races(struct session *s, const struct suite_script *script,
			     struct script_walk *w, struct err *err)
{
	const struct setup *setup = &s->suite->setups[script->setup];
	const struct known_setup *base = &s->bases[script->setup];
	int r = 0;

	if (base->blind) {
		w->fate = SCRIPT_UNKNOWN;
		return 0;
	}
	w->setup_calls = setup->calls;
	w->setup_outcomes = base->outcomes;
	w->setup_count = setup->count;
	for (unsigned i = 0; i < s->repeat && !r && w->fate == SCRIPT_ACCEPTED; i++) {
		r = session_attempt(s, script->setup, w, err);
		s->walker.figures.races++;
		s->in_place =
			hash_equal(tree_hash(&s->walker.state.tree), tree_hash(&base->state.tree))
				? (long)script->setup
				: -1;
		arena_reset(&s->walker.arena);
	}
	return r;
}

static int session_run_script(struct session *s, const struct suite_script *script,
			      struct script_walk *w, struct err *err)
{
	const struct known_setup *base = &s->bases[script->setup];
	int r = 0;

	if (!base->known) {
		r = session_learn(s, script->setup, w, err);
		s->in_place = script->setup;
		s->tasks = s->suite->setups[script->setup].tasks ? (long)script->setup : -1;
		if (r || w->fate != SCRIPT_ACCEPTED)
			return r;
	}
	if (script->races)
		return session_run_races(s, script, w, err);
	w->times = script->family && script->family->times;
	w->blind = base->blind;
	r = session_attempt(s, script->setup, w, err);
	if (!r && w->fate == SCRIPT_REJECTED && w->deviation->code == PROBLEM_TREE && w->count > 1)
		r = session_pinpoint(s, script, w, err);
	s->walker.changed |=
		!hash_equal(tree_hash(&s->walker.state.tree), tree_hash(&base->state.tree));
	s->in_place = s->walker.changed ? -1 : (long)script->setup;
	s->lost |= script->makes_tasks || base->blind;
	return r;
}

/* What kept a script from being carried out may be the file system's doing: a root that cannot
 * be read any more, say. If a new one works, it was. */
static int session_blame_target(struct session *s, struct script_walk *w, struct err *err)
{
	struct err why = *err;
	int r;

	*err = (struct err){ 0 };
	s->broken = true;
	r = session_reset(s, err);
	if (r)
		return r;
	walker_report_fate(&s->walker, w->deviation, FATE_DIED, 0, &w->calls[0]);
	buf_adds(&w->deviation->detail, why.text);
	w->fate = SCRIPT_REJECTED;
	return 0;
}

void session_set_switches(struct session *s, unsigned switches)
{
	s->schedules.preemptions = switches;
}

static bool session_is_possible(const struct session *s, const struct suite_script *script)
{
	const struct target *t = s->walker.target;

	if (script->races && s->schedules.preemptions)
		return t->caps & TARGET_SCHEDULES;
	if (script->races && (!t->kind->races || t->uid))
		return false;
	return !(script->needs & ~t->caps);
}

int session_run(struct session *s, size_t number, enum script_fate *ret_fate, struct deviation *ret,
		struct err *err)
{
	const struct suite_script *script = &s->suite->scripts[number];
	struct script_walk w = { script->calls, script->count, .deviation = ret };
	double from = clock_seconds(), exec = s->walker.figures.exec_seconds;
	int r = 0;

	deviation_clear(ret);
	ret->script = (uint32_t)number;
	ret->in_setup = false;
	arena_reset(&s->walker.arena);
	if (!session_is_possible(s, script))
		w.fate = SCRIPT_SKIPPED;
	else
		r = session_run_script(s, script, &w, err);
	if (r == -LIMITS_NOT_MADE) { /* it would reach what is not ours */
		r = err_forget(err, r, LIMITS_NOT_MADE);
		w.fate = SCRIPT_SKIPPED;
		s->walker.figures.not_made++;
		s->lost = s->broken = true;
	}
	if (r && !failure_is_ours(r) && s->failures++ < FAILURES_MAX)
		r = session_blame_target(s, &w, err);
	s->walker.figures.calls += w.count;
	s->walker.figures.check_seconds +=
		clock_seconds() - from - (s->walker.figures.exec_seconds - exec);
	*ret_fate = w.fate;
	return r;
}
