/* capture.c -- from a discrepancy that a search met to a finding that anyone can reproduce.
 *
 * It is written down before anything else, kept aside with what was observed, and again whenever
 * more is known of it: a run that is killed, or has no time left, keeps what it had. A replay that
 * shows it makes a finding of it. The search met it after perhaps a million calls.
 * Replayed from a fresh file system are, in turn: the shortest known path to the state and the
 * call; then the shortest path to where the search was 8, 64, 512 ... calls before, and those
 * calls; at last everything. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "explore/sharing.h"
#include "finding/folder.h"
#include "judge/severity.h"
#include "plan/nearby.h"
#include "trace/script.h"

enum { SUFFIX_FIRST = 8, SUFFIX_FACTOR = 8, PATH_CALLS_MAX = 1 << 14 };
/* What work on findings may take beyond the end: of all the time there is, and at least. */
static const double grace_share = 0.1, grace_min_seconds = 5;
/* Whether it is a finding at all is worth more: this much time for the replays that decide it, also
 * at the very end. A daemon takes a second to start where the machine is busy. */
static const double replay_min_seconds = 10;
/* A target that takes long to start again, or that does not show it every time, would keep a search
 * for ever. */
static const double work_max_seconds = 300;
/* Every replay that hangs costs a deadline. */
enum { HANG_SHRINK_TRIES = 20, HANG_VERIFY_TIMES = 2 };
/* What no replay shows is worked on again when it is met again, so often in all. */
enum { ATTEMPTS_MAX = 2 };

/* Calls from a fresh file system on: processes, the path to a node, the last calls of the history,
 * the call that showed it. */
struct replay_candidate {
	struct call *calls;
	size_t count;
	struct arena arena; /* their text */
	struct state state; /* the model's, behind them */
};

static void candidate_free(struct replay_candidate *c)
{
	free(c->calls);
	arena_free(&c->arena);
	state_free(&c->state);
}

/* With room for this many calls besides those that make the processes. */
static void candidate_begin(const struct explorer *x, struct replay_candidate *c, size_t room)
{
	*c = (struct replay_candidate){ .state = state_copy(&x->start) };
	c->calls = must_alloc((room + x->universe->processes) * sizeof(*c->calls));
	for (unsigned i = 2; i <= x->universe->processes; i++)
		c->calls[c->count++] = explorer_process_call(x, i);
}

/* Calls by number, as the model predicts them. False if they do not lead to this node. */
static bool candidate_add_path(const struct explorer *x, struct replay_candidate *c,
			       const uint32_t *numbers, size_t count, uint32_t node)
{
	struct outcome outcome;

	for (size_t i = 0; i < count; i++) {
		struct call *call = &c->calls[c->count++];

		if (!nearby_call(x->universe, numbers[i], &c->state, &c->arena, call))
			return false;
		model_run(x->predictor.model, &c->state, call, &outcome);
	}
	return hash_equal(state_hash(&c->state), graph_node(&x->graph, node)->hash);
}

/* Calls of the history; false if they cannot be made out. */
static bool candidate_add_history(const struct explorer *x, struct replay_candidate *c, size_t from,
				  size_t to)
{
	if (!history_calls(&x->history, &x->predictor, from, to, &c->state, &c->arena,
			   c->calls + c->count))
		return false;
	c->count += to - from;
	return true;
}

/* The shortest path to where the search was `suffix` calls ago, those calls, and `call`. False if
 * the path is not known or too long. */
static bool candidate_compose(struct explorer *x, struct replay_candidate *c, size_t suffix,
			      uint32_t call)
{
	size_t at = x->history.count - suffix;
	uint32_t from = at ? x->history.calls[at - 1].to : x->root;
	uint32_t *path = NULL;
	int64_t len = 0;
	bool known;

	if (at) {
		if (from == NODE_NONE) /* only bits are kept of visited states */
			return false;
		path = must_alloc(PATH_CALLS_MAX * sizeof(*path));
		len = graph_path(&x->graph, x->root, from, path, PATH_CALLS_MAX);
	}
	known = len >= 0 && len <= PATH_CALLS_MAX;
	if (known) {
		candidate_begin(x, c, (size_t)len + suffix + 1);
		known = candidate_add_path(x, c, path, (size_t)len, from) &&
			candidate_add_history(x, c, at, x->history.count) &&
			history_call(x->universe, call, &c->state, &c->arena,
				     &c->calls[c->count++]);
		if (!known)
			candidate_free(c);
	}
	free(path);
	return known;
}

static struct replay_on capture_on(const struct plan_follower *f, bool unseen, double until_seconds)
{
	return (struct replay_on){
		.target = f->target,
		.model = &f->model,
		.until_seconds = until_seconds,
		.unseen = unseen,
	};
}

/* What was met without looking after every call is blamed on the wrong one, unless it shows only
 * so: 1 if something as bad also shows where every call is looked at. */
static int candidate_replay_looking(const struct plan_follower *on,
				    const struct replay_candidate *c, const struct finding *met,
				    double until_seconds, struct finding *ret, struct err *err)
{
	struct replay_on where = capture_on(on, false, until_seconds);
	int status = judge_replay(&where, c->calls, c->count, NULL, ret, err);

	if (status <= 0 || severity_of(&met->discrepancy) == severity_of(&ret->discrepancy))
		return status;
	finding_free(ret);
	return 0;
}

/* What a replay showed is a known finding, only that the search has blamed it on another call. */
enum { CAPTURE_KNOWN = 2 };

/* Whether it is this worker that works on it. In another configuration it is another finding. */
static bool capture_take(struct explorer *x, const struct finding *f)
{
	struct buf name = BUF_INIT;
	bool mine;

	buf_addf(&name, "%s\n%s", f->discrepancy.signature, buf_str(&f->target));
	mine = sharing_take_named(x, "finding", buf_str(&name));
	buf_free(&name);
	return mine;
}

/* Replays a candidate: 1 if it shows the signature sought, or one that is not known yet. */
static int candidate_replay(struct explorer *x, const struct plan_follower *on,
			    const struct replay_candidate *c, const struct finding *met,
			    double until_seconds, struct finding *ret, struct err *err)
{
	struct replay_on where = capture_on(on, x->options->unseen_calls, until_seconds);
	const char *signature = met->discrepancy.signature;
	int status = 0;

	if (where.unseen)
		status = candidate_replay_looking(on, c, met, until_seconds, ret, err);
	if (status > 0 && run_knows(x->run, ret)) {
		finding_free(ret);
		return CAPTURE_KNOWN;
	}
	if (!status)
		status = judge_replay(&where, c->calls, c->count, signature, ret, err);
	if (!status)
		status = judge_replay(&where, c->calls, c->count, NULL, ret, err);
	if (status > 0 && strcmp(ret->discrepancy.signature, signature) &&
	    (run_knows(x->run, ret) || run_group_calls(x->run, ret))) {
		finding_free(ret);
		return on->end.late ? CAPTURE_KNOWN : 0;
	}
	return status;
}

/* Counts the replays of what was met. 1 if one of them shows it, or CAPTURE_KNOWN. */
static int capture_reproduce(struct explorer *x, const struct plan_follower *on, uint32_t call,
			     struct finding *met, double until_seconds, struct finding *ret,
			     struct err *err)
{
	struct replay_candidate c;
	size_t suffix = 0;
	int status = 0;

	for (;;) {
		if (candidate_compose(x, &c, suffix, call)) {
			status = candidate_replay(x, on, &c, met, until_seconds, ret, err);
			met->tries += status >= 0;
			candidate_free(&c);
		}
		if (status || suffix == x->history.count)
			break;
		suffix = suffix ? suffix * SUFFIX_FACTOR : SUFFIX_FIRST;
		if (suffix > x->history.count)
			suffix = x->history.count;
	}
	return status;
}

/* All calls since the file system was fresh. A branching search knows of the calls that led to a
 * state only their numbers: where one of them went another way than the model predicts, what came
 * behind it cannot be made out, and is left out. */
static struct replay_candidate capture_all(const struct explorer *x)
{
	struct replay_candidate all;

	candidate_begin(x, &all, x->history.count);
	candidate_add_history(x, &all, 0, x->history.count);
	return all;
}

static bool capture_has_all(const struct explorer *x, const struct replay_candidate *all)
{
	return all->count + 1 == x->history.count + x->universe->processes;
}

/* Everything since the file system was fresh, as a trace beside the finding: what `assay shrink`
 * begins with where the trace is only its end. */
static void capture_write_history(const struct explorer *x, const struct target *t,
				  const struct replay_candidate *all, const struct call *call)
{
	const char *folder = run_folder(x->run);
	char path[PATH_MAX];
	struct buf text = BUF_INIT;
	struct err none = { 0 };

	if (!folder || !capture_has_all(x, all))
		return;
	folder_add_header(&text, HEADER_TARGET, t->name);
	for (size_t i = 0; i < all->count; i++) {
		call_print(&all->calls[i], DIALECT_NATIVE, &text);
		buf_addch(&text, '\n');
	}
	if (call) {
		call_print(call, DIALECT_NATIVE, &text);
		buf_addch(&text, '\n');
	}
	snprintf(path, sizeof(path), "%s/" FOLDER_HISTORY, folder);
	buf_write_file(&text, path, &none);
	buf_free(&text);
}

static void capture_put_observed(struct finding *f, size_t i, const struct outcome *seen)
{
	if (!seen)
		return;
	f->outcomes[i] = outcome_copy(seen, &f->arena);
	f->evidence[i] = EVIDENCE_OBSERVED;
}

/* Outcomes that were not recorded are predicted where all calls from the beginning are known. */
static void capture_predict_rest(const struct explorer *x, const struct model *m, struct finding *f)
{
	struct state s = state_copy(&x->fresh);
	const struct outcome *seen;
	struct outcome predicted;
	struct envelope env;

	/* Not of the last call: what it should answer is said under "expected". */
	for (size_t i = 0; i + 1 < f->count; i++) {
		seen = finding_observed(f, i);
		if (seen) {
			if (model_step(m, &s, &f->calls[i], seen, &env) == VERDICT_BAD)
				break;
			continue;
		}
		model_run(m, &s, &f->calls[i], &predicted);
		f->outcomes[i] = outcome_copy(&predicted, &f->arena);
		f->evidence[i] = EVIDENCE_PREDICTED;
	}
	state_free(&s);
}

static void capture_put_processes(const struct explorer *x, struct finding *f)
{
	static const struct outcome made = { 0 }; /* else there would have been no search */

	for (unsigned i = 2; i <= x->universe->processes; i++) {
		f->calls[f->count] = explorer_process_call(x, i);
		capture_put_observed(f, f->count++, &made);
	}
}

/* The calls as the search made them: the last ones of the history and, where it is not the last of
 * those, `call`. The finding shares the text of `first`; what is its own is in the arena. */
static struct finding capture_as_met(const struct explorer *x, const struct model *m,
				     const struct replay_candidate *all, const struct call *call,
				     const struct finding *first, const struct outcome *answer)
{
	size_t others = x->universe->processes - 1, made = x->history.count;
	size_t tail = capture_has_all(x, all) ? made : 0;
	struct finding f = *first;

	if (tail > RECENT_MAX)
		tail = RECENT_MAX;
	f.arena = (struct arena)ARENA_INIT;
	f.before = made > tail ? others + made - tail : 0;
	finding_reserve(&f, tail + 1 + others);
	if (!f.before)
		capture_put_processes(x, &f);
	for (size_t i = made - tail; i < made; i++) {
		f.calls[f.count] = call_copy(&all->calls[others + i], &f.arena);
		capture_put_observed(&f, f.count++, recent_get(&x->recent, i));
	}
	if (call) {
		f.calls[f.count] = call_copy(call, &f.arena);
		capture_put_observed(&f, f.count++, answer);
	}
	if (!f.before)
		capture_predict_rest(x, m, &f);
	return f;
}

bool capture_once(struct explorer *x, const struct finding *first)
{
	struct replay_candidate all = capture_all(x);
	bool known = capture_has_all(x, &all);
	struct finding f;

	must(x->history.count);
	if (known) {
		f = capture_as_met(x, x->predictor.model, &all, NULL, first, NULL);
		run_meet(x->run, &f, x->target);
		if (f.before)
			capture_write_history(x, x->target, &all, NULL);
		run_update(x->run, &f, x->target);
		run_settle(x->run);
		arena_free(&f.arena);
	}
	candidate_free(&all);
	return known;
}

/* A finding may take half of the time that is left, and at the end a little more than there is. */
static double capture_until(const struct explorer *x)
{
	double seconds = x->options->seconds, now = clock_seconds(), until = now + work_max_seconds;
	double grace = fmax(seconds * grace_share, grace_min_seconds);

	if (seconds <= 0)
		return until;
	until = fmin(until, x->deadline_seconds + grace);
	return fmin(until, fmax(now + grace, (now + x->deadline_seconds) / 2));
}

/* Says why work on a finding ended before its time; that is no failure of the search. */
static void capture_note_failure(struct buf *notes, const char *what, int status, struct err *err)
{
	if (status == -ETIME)
		buf_addf(notes, "%s: there was no time left.\n", what);
	else
		buf_addf(notes, "%s: %s.\n", what, err->text);
	*err = (struct err){ 0 };
}

/* A finding that a replay has shown: listed at once, then shrunk. */
static void capture_improve(struct explorer *x, const struct plan_follower *on, struct finding *f,
			    double until_seconds)
{
	const struct explore_options *o = x->options;
	bool hangs = f->discrepancy.code == PROBLEM_HANG;
	unsigned tries = hangs ? HANG_SHRINK_TRIES : o->shrink_tries;
	unsigned times = hangs ? HANG_VERIFY_TIMES : o->verify_times;
	struct replay_on where = capture_on(on, f->unseen, until_seconds);
	struct err err = { 0 };
	int status;

	run_update(x->run, f, on->target);
	status = finding_improve(f, &where, tries, times, &err);
	if (status < 0)
		capture_note_failure(&f->notes, "It was not shrunk to the end", status, &err);
	buf_adds(&f->notes, buf_str(&x->others));
	run_update(x->run, f, on->target);
	if (run_folder(x->run))
		finding_keep_evidence(on->target, run_folder(x->run));
	run_settle(x->run);
}

/* Where not every tree is compared, a replay may well show it earlier, as something else. */
static bool capture_is_same(const struct explorer *x, const struct plan_follower *on,
			    const struct finding *a, const struct finding *b)
{
	return on->end.late || x->options->unseen_calls ||
	       !strcmp(a->discrepancy.signature, b->discrepancy.signature);
}

/* Replays what was met, and works on what that shows. */
static void capture_confirm(struct explorer *x, const struct plan_follower *on, uint32_t call,
			    struct finding *met)
{
	double until_seconds = capture_until(x);
	double replay_until_seconds = fmax(until_seconds, clock_seconds() + replay_min_seconds);
	struct err err = { 0 };
	struct finding f;
	int status = capture_reproduce(x, on, call, met, replay_until_seconds, &f, &err);

	if (status == CAPTURE_KNOWN) {
		run_withdraw(x->run);
		return;
	}
	/* What the replay shows may be what another worker works on. */
	if (status > 0 && !capture_take(x, &f)) {
		run_withdraw(x->run);
		finding_free(&f);
		return;
	}
	if (status > 0 && capture_is_same(x, on, met, &f)) {
		capture_improve(x, on, &f, until_seconds);
		finding_free(&f);
		return;
	}
	if (status < 0)
		capture_note_failure(&met->notes, "It was not replayed to the end", status, &err);
	if (status > 0)
		buf_addf(&met->notes, "A replay showed something else: %s.\n",
			 f.discrepancy.signature);
	run_update(x->run, met, on->target);
	run_settle(x->run);
	if (status > 0) {
		run_meet(x->run, &f, on->target);
		capture_improve(x, on, &f, until_seconds);
		finding_free(&f);
	}
}

/* Puts what was met under the finding of its cause, if there is one, with the shortest known calls
 * to it. It is not replayed: that would take the time of the search. False if there is none, or
 * these calls are fewer than those of the finding. */
static bool capture_join(struct explorer *x, const struct plan_follower *on, uint32_t call,
			 const struct finding *first)
{
	uint64_t calls = run_group_calls(x->run, first);
	struct replay_candidate c;
	struct finding f = *first;
	bool joined = false;

	if (!calls)
		return false;
	if (!candidate_compose(x, &c, 0, call))
		return run_join(x->run, &f, on->target);
	f.arena = (struct arena)ARENA_INIT;
	finding_reserve(&f, c.count);
	for (f.count = 0; f.count < c.count; f.count++)
		f.calls[f.count] = call_copy(&c.calls[f.count], &f.arena);
	if (c.count >= calls)
		joined = run_join(x->run, &f, on->target);
	arena_free(&f.arena);
	candidate_free(&c);
	return joined;
}

bool capture(struct explorer *x, const struct plan_follower *on, uint32_t call,
	     const struct finding *first)
{
	struct replay_candidate all;
	struct finding met;
	struct call c;

	/* Only a replay can say which call it is of. */
	if (run_knows(x->run, first) || (!on->end.late && capture_join(x, on, call, first))) {
		x->figures.repeats++;
		return false;
	}
	if (run_attempts(x->run, first->discrepancy.signature) >= ATTEMPTS_MAX) {
		run_meet_again(x->run, first);
		x->figures.repeats++;
		return false;
	}
	/* Another worker has met it, and works on it. */
	if (!capture_take(x, first)) {
		x->figures.repeats++;
		return false;
	}
	all = capture_all(x);
	explorer_call(x, call, &all.arena, &c);
	met = capture_as_met(x, &on->model, &all, &c, first,
			     first->discrepancy.answered ? &first->discrepancy.answer : NULL);
	met.notes = (struct buf)BUF_INIT;
	buf_adds(&met.notes, buf_str(&x->others));
	if (on->end.late)
		buf_adds(&met.notes, "A call before this one may have caused it: only what calls "
				     "touch was looked at in between.\n");
	run_meet(x->run, &met, on->target);
	if (met.before)
		capture_write_history(x, on->target, &all, &c);
	candidate_free(&all);
	capture_confirm(x, on, call, &met);
	buf_free(&met.notes);
	arena_free(&met.arena);
	return true;
}

void capture_shown(struct explorer *x, struct finding *f)
{
	if (capture_take(x, f)) {
		run_meet(x->run, f, x->target);
		capture_improve(x, &x->followers[0], f, capture_until(x));
	}
	finding_free(f);
}

/* Replays one that an earlier part of the search had no time for; its row is open. */
static void capture_take_up(struct explorer *x, const struct finding *met)
{
	const struct plan_follower *on = &x->followers[0];
	double until_seconds = capture_until(x);
	struct replay_on where = capture_on(on, x->options->unseen_calls, until_seconds);
	struct err none = { 0 };
	struct finding f;
	int status =
		judge_replay(&where, met->calls, met->count, met->discrepancy.signature, &f, &none);

	if (status <= 0)
		return;
	if (capture_is_same(x, on, met, &f))
		capture_improve(x, on, &f, until_seconds);
	finding_free(&f);
}

int capture_pending(struct explorer *x, struct err *err)
{
	struct finding met;
	bool taken = false;

	/* From the end: one that is confirmed leaves the list. */
	for (size_t i = json_array_size(x->run->unconfirmed); i--;) {
		if (!run_take_up(x->run, i, x->target->name, &met))
			continue;
		capture_take_up(x, &met);
		finding_free(&met);
		taken = true;
	}
	return taken ? explorer_reset(x, err) : 0;
}
