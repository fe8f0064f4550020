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
#include "explore/explorer.h"
#include "finding/folder.h"
#include "trace/script.h"

enum { SUFFIX_FIRST = 8, SUFFIX_FACTOR = 8, PATH_CALLS_MAX = 1 << 14 };
/* Of all the time there is: what work on a finding may take beyond the end. */
static const double grace = 0.1;
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

/* Calls by number: the path to `from`, the last `suffix` calls of the history, the call. */
struct replay_candidate {
	uint32_t *numbers;
	size_t count;
};

static void candidate_add_suffix(const struct explorer *x, struct replay_candidate *c,
				 size_t suffix, uint32_t call)
{
	for (size_t i = x->history_count - suffix; i < x->history_count; i++)
		c->numbers[c->count++] = x->history[i].call;
	c->numbers[c->count++] = call;
}

/* False where the path is not known or too long. */
static bool candidate_compose(struct explorer *x, struct replay_candidate *c, size_t suffix,
			      uint32_t call)
{
	size_t at = x->history_count - suffix;
	uint32_t from = at ? x->history[at - 1].to : x->root;
	int64_t path;

	c->count = 0;
	if (at) {
		if (from == NODE_NONE) /* only bits are kept of visited states */
			return false;
		path = graph_path(&x->graph, x->root, from, c->numbers, PATH_CALLS_MAX);
		if (path < 0 || path > PATH_CALLS_MAX)
			return false;
		c->count = (size_t)path;
	}
	candidate_add_suffix(x, c, suffix, call);
	return true;
}

/* The calls themselves, on a fresh file system: the processes come first. */
static void candidate_calls(const struct explorer *x, const struct replay_candidate *c,
			    struct call *ret)
{
	for (unsigned i = 2; i <= x->universe->processes; i++)
		*ret++ = explorer_process_call(x, i);
	for (size_t i = 0; i < c->count; i++)
		universe_call(x->universe, c->numbers[i], ret++);
}

/* Replays a candidate: 1 if it shows the signature sought, or one that is not known yet. */
static int candidate_replay(struct explorer *x, const struct plan_follower *on,
			    const struct replay_candidate *c, const char *signature,
			    double until_seconds, struct finding *ret, struct err *err)
{
	size_t count = c->count + x->universe->processes - 1;
	struct call *calls = must_alloc(count * sizeof(*calls));
	int status;

	candidate_calls(x, c, calls);
	status = judge_replay(on->target, &on->model, calls, count, true, until_seconds, ret, err);
	free(calls);
	if (status > 0 && strcmp(ret->discrepancy.signature, signature) && run_knows(x->run, ret)) {
		finding_free(ret);
		return 0;
	}
	return status;
}

/* Counts the replays of what was met. 1 if one of them shows it. */
static int capture_reproduce(struct explorer *x, const struct plan_follower *on, uint32_t call,
			     struct finding *met, double until_seconds, struct finding *ret,
			     struct err *err)
{
	struct replay_candidate c = {
		must_alloc((PATH_CALLS_MAX + HISTORY_MAX + 1) * sizeof(uint32_t)), 0
	};
	size_t suffix = 0;
	int status = 0;

	for (;;) {
		if (candidate_compose(x, &c, suffix, call)) {
			status = candidate_replay(x, on, &c, met->discrepancy.signature,
						  until_seconds, ret, err);
			met->tries += status >= 0;
		}
		if (status || suffix == x->history_count)
			break;
		suffix = suffix ? suffix * SUFFIX_FACTOR : SUFFIX_FIRST;
		if (suffix > x->history_count)
			suffix = x->history_count;
	}
	free(c.numbers);
	return status;
}

/* Everything since the file system was fresh, as a trace beside the finding: what `assay shrink`
 * begins with where the trace is only its end. */
static void capture_write_history(const struct explorer *x, const struct target *t, uint32_t call)
{
	const char *folder = run_folder(x->run);
	char path[PATH_MAX];
	struct buf text = BUF_INIT;
	struct err none = { 0 };
	struct call c;

	if (!folder)
		return;
	folder_add_header(&text, HEADER_TARGET, t->name);
	for (unsigned i = 2; i <= x->universe->processes; i++) {
		c = explorer_process_call(x, i);
		call_print(&c, DIALECT_NATIVE, &text);
		buf_addch(&text, '\n');
	}
	for (size_t i = 0; i <= x->history_count; i++) {
		universe_call(x->universe, i < x->history_count ? x->history[i].call : call, &c);
		call_print(&c, DIALECT_NATIVE, &text);
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

/* The calls as the search made them: the last ones of the history, and `call`. The finding shares
 * the text of `first`; what is its own is in the arena. */
static struct finding capture_as_met(const struct explorer *x, const struct model *m, uint32_t call,
				     const struct finding *first, const struct outcome *answer)
{
	size_t tail = x->history_count < RECENT_MAX ? x->history_count : RECENT_MAX;
	size_t from = x->history_count - tail, others = x->universe->processes - 1;
	struct finding f = *first;

	f.arena = (struct arena)ARENA_INIT;
	f.before = from ? from + others : 0;
	finding_reserve(&f, tail + 1 + others);
	if (!f.before)
		capture_put_processes(x, &f);
	for (size_t i = from; i < x->history_count; i++) {
		universe_call(x->universe, x->history[i].call, &f.calls[f.count]);
		capture_put_observed(&f, f.count++, recent_get(&x->recent, i));
	}
	universe_call(x->universe, call, &f.calls[f.count]);
	capture_put_observed(&f, f.count++, answer);
	if (!f.before)
		capture_predict_rest(x, m, &f);
	return f;
}

void capture_once(struct explorer *x, const struct finding *first)
{
	size_t last = x->history_count - 1;
	struct finding f;

	must(x->history_count);
	x->history_count = last;
	f = capture_as_met(x, x->predictor.model, x->history[last].call, first,
			   recent_get(&x->recent, last));
	run_meet(x->run, &f, x->target);
	if (f.before)
		capture_write_history(x, x->target, x->history[last].call);
	run_update(x->run, &f, x->target);
	run_settle(x->run);
	x->history_count = last + 1;
	arena_free(&f.arena);
}

/* A finding may take half of the time that is left, and at the end a little more than there is. */
static double capture_until(const struct explorer *x)
{
	double seconds = x->options->seconds, now = clock_seconds(), until = now + work_max_seconds;

	if (seconds <= 0)
		return until;
	until = fmin(until, x->deadline_seconds + seconds * grace);
	return fmin(until, fmax(now + seconds * grace, (now + x->deadline_seconds) / 2));
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
	struct err err = { 0 };
	int status;

	run_update(x->run, f, on->target);
	status = finding_improve(f, on->target, &on->model, tries, times, until_seconds, &err);
	if (status < 0)
		capture_note_failure(&f->notes, "It was not shrunk to the end", status, &err);
	buf_adds(&f->notes, buf_str(&x->others));
	run_update(x->run, f, on->target);
	if (run_folder(x->run))
		finding_keep_evidence(on->target, run_folder(x->run));
	run_settle(x->run);
}

/* Where not every tree is compared, a replay may well show it earlier, as something else. */
static bool capture_is_same(const struct explorer *x, const struct finding *a,
			    const struct finding *b)
{
	return x->options->verify_every > 1 ||
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

	if (status > 0 && capture_is_same(x, met, &f)) {
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

void capture(struct explorer *x, const struct plan_follower *on, uint32_t call,
	     const struct finding *first)
{
	struct finding met;

	if (run_knows(x->run, first)) {
		x->figures.repeats++;
		return;
	}
	if (run_attempts(x->run, first->discrepancy.signature) >= ATTEMPTS_MAX) {
		run_meet_again(x->run, first);
		x->figures.repeats++;
		return;
	}
	met = capture_as_met(x, &on->model, call, first,
			     first->discrepancy.answered ? &first->discrepancy.answer : NULL);
	met.notes = (struct buf)BUF_INIT;
	buf_adds(&met.notes, buf_str(&x->others));
	run_meet(x->run, &met, on->target);
	if (met.before)
		capture_write_history(x, on->target, call);
	capture_confirm(x, on, call, &met);
	buf_free(&met.notes);
	arena_free(&met.arena);
}

/* Replays one that an earlier part of the search had no time for; its row is open. */
static void capture_take_up(struct explorer *x, const struct finding *met)
{
	const struct plan_follower *on = &x->followers[0];
	double until_seconds = capture_until(x);
	struct err none = { 0 };
	struct finding f;
	int status = judge_replay(on->target, &on->model, met->calls, met->count, true,
				  until_seconds, &f, &none);

	if (status <= 0)
		return;
	if (capture_is_same(x, met, &f))
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
