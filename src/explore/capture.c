/* capture.c -- from a discrepancy met on the way to a finding that anyone can reproduce.
 *
 * It is written down before anything else, and again whenever more is known of it: a run that is
 * killed, or has no time left, keeps what it had. The search met it after perhaps a million calls.
 * Replayed from a fresh file system are, in turn: the shortest known way to the state and the
 * call; then the shortest way to where the search was 8, 64, 512 ... calls before, and those
 * calls; at last everything. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/must.h"
#include "explore/explorer.h"
#include "op/script.h"

enum { SUFFIX_FIRST = 8, SUFFIX_FACTOR = 8, WAY_MAX = 1 << 14 };
/* Of all the time there is: what work on a finding may take beyond the end. */
static const double grace = 0.1;
/* A target that takes long to start anew, or that does not show it every time, would keep a search
 * for ever. */
static const double work_max_seconds = 300;
/* Every replay that hangs costs a deadline. */
enum { HANG_SHRINK_TRIES = 20, HANG_VERIFY_TIMES = 2 };

/* Calls by number: the way to `from`, the last `suffix` calls of the history, the call. */
struct candidate {
	uint32_t *numbers;
	size_t count;
};

static void add_suffix(const struct explorer *x, struct candidate *c, size_t suffix, uint32_t call)
{
	for (size_t i = x->history_count - suffix; i < x->history_count; i++)
		c->numbers[c->count++] = x->history[i].call;
	c->numbers[c->count++] = call;
}

/* False where the way is not known or too long. */
static bool compose(struct explorer *x, struct candidate *c, size_t suffix, uint32_t call)
{
	size_t at = x->history_count - suffix;
	uint32_t from = at ? x->history[at - 1].to : x->root;
	int64_t way;

	c->count = 0;
	if (at) {
		if (from == NODE_NONE) /* only bits are kept of visited states */
			return false;
		way = graph_path(&x->graph, x->root, from, c->numbers, WAY_MAX);
		if (way < 0 || way > WAY_MAX)
			return false;
		c->count = (size_t)way;
	}
	add_suffix(x, c, suffix, call);
	return true;
}

/* The calls themselves, on a fresh file system: the processes come first. */
static void write_calls(const struct explorer *x, const struct candidate *c, struct call *ret)
{
	for (unsigned i = 2; i <= x->universe->processes; i++)
		*ret++ = explorer_process(x, i);
	for (size_t i = 0; i < c->count; i++)
		universe_call(x->universe, c->numbers[i], ret++);
}

/* Replays a candidate: 1 if it shows the signature sought, or one that is not known yet. */
static int try_candidate(struct explorer *x, const struct candidate *c, const char *signature,
			 double until_seconds, struct finding *ret, struct err *err)
{
	size_t count = c->count + x->universe->processes - 1;
	struct call *calls = must_alloc(count * sizeof(*calls));
	int status;

	write_calls(x, c, calls);
	status = judge_replay(x->target, &x->model, calls, count, true, until_seconds, ret, err);
	free(calls);
	if (status > 0 && strcmp(ret->signature, signature) && run_knows(x->run, ret->signature)) {
		finding_free(ret);
		return 0;
	}
	return status;
}

static int reproduce(struct explorer *x, uint32_t call, const char *signature, double until_seconds,
		     struct finding *ret, struct err *err)
{
	struct candidate c = { must_alloc((WAY_MAX + HISTORY_MAX + 1) * sizeof(uint32_t)), 0 };
	size_t suffix = 0;
	int status = 0;

	for (;;) {
		if (compose(x, &c, suffix, call))
			status = try_candidate(x, &c, signature, until_seconds, ret, err);
		if (status || suffix == x->history_count)
			break;
		suffix = suffix ? suffix * SUFFIX_FACTOR : SUFFIX_FIRST;
		if (suffix > x->history_count)
			suffix = x->history_count;
	}
	free(c.numbers);
	return status;
}

/* The calls of a candidate with the outcomes the model predicts for them. */
static void fill_calls(const struct explorer *x, const struct candidate *c, struct arena *arena,
		       struct finding *f)
{
	struct state s = state_copy(&x->fresh);
	struct outcome expected;

	f->count = c->count + x->universe->processes - 1;
	f->calls = arena_alloc(arena, f->count * sizeof(*f->calls));
	f->outcomes = arena_alloc(arena, f->count * sizeof(*f->outcomes));
	write_calls(x, c, f->calls);
	for (size_t i = 0; i < f->count; i++) {
		model_run(&x->model, &s, &f->calls[i], &expected);
		f->outcomes[i] = outcome_copy(&expected, arena);
	}
	state_free(&s);
}

/* Everything since the file system was fresh, as a trace beside the finding: what `assay shrink`
 * can begin with if nothing shorter shows it. */
static int write_history(const struct explorer *x, uint32_t call, struct err *err)
{
	char path[PATH_MAX];
	struct buf text = BUF_INIT;
	struct call c;
	int status;

	buf_addf(&text, "# target: %s\n", x->target->name);
	for (unsigned i = 2; i <= x->universe->processes; i++) {
		c = explorer_process(x, i);
		call_print(&c, DIALECT_NATIVE, &text);
		buf_addch(&text, '\n');
	}
	for (size_t i = 0; i <= x->history_count; i++) {
		universe_call(x->universe, i < x->history_count ? x->history[i].call : call, &c);
		call_print(&c, DIALECT_NATIVE, &text);
		buf_addch(&text, '\n');
	}
	snprintf(path, sizeof(path), "%s/history", run_last_folder(x->run));
	status = buf_write_file(&text, path, err);
	buf_free(&text);
	return status;
}

/* What was just met is told at once, with the shortest way that may show it: whatever comes, it
 * is not lost. It is told again if no replay could show it. */
static int tell(struct explorer *x, uint32_t call, const struct finding *first, bool again,
		struct err *err)
{
	struct candidate c = { must_alloc((WAY_MAX + HISTORY_MAX + 1) * sizeof(uint32_t)), 0 };
	size_t suffix = x->history_count < SUFFIX_FIRST ? x->history_count : SUFFIX_FIRST;
	struct finding f = *first; /* shares its text */
	struct arena arena = ARENA_INIT;
	int status;

	if (!compose(x, &c, suffix, call))
		add_suffix(x, &c, suffix, call);
	fill_calls(x, &c, &arena, &f);
	f.tries = again;
	status = again ? run_replace(x->run, &f, NULL, err) : run_add(x->run, &f, NULL, err);
	if (!status && !again)
		status = write_history(x, call, err);
	arena_free(&arena);
	free(c.numbers);
	return status;
}

int capture_once(struct explorer *x, uint32_t call, const struct finding *first, struct err *err)
{
	return tell(x, call, first, false, err);
}

/* A finding may take half of the time that is left, and at the end a little more than there is. */
static double work_until(const struct explorer *x)
{
	double seconds = x->options->seconds, now = clock_seconds(), until = now + work_max_seconds;

	if (seconds <= 0)
		return until;
	until = fmin(until, x->deadline_seconds + seconds * grace);
	return fmin(until, fmax(now + seconds * grace, (now + x->deadline_seconds) / 2));
}

/* The finding, which was replayed, shrinks and takes the place of what was told first. */
static int improve(struct explorer *x, struct finding *f, double until_seconds, struct err *err)
{
	const struct explore_options *o = x->options;
	bool hangs = f->code == FINDING_HANG;
	unsigned tries = hangs ? HANG_SHRINK_TRIES : o->shrink_tries;
	unsigned times = hangs ? HANG_VERIFY_TIMES : o->verify_times;
	char history[PATH_MAX];
	int status = run_replace(x->run, f, NULL, err);

	if (!status)
		status = finding_shrink(f, x->target, &x->model, tries, until_seconds, err);
	if (!status)
		status = finding_verify(f, x->target, &x->model, times, until_seconds, err);
	if (status)
		return status;
	buf_adds(&f->rule, buf_str(&x->others));
	snprintf(history, sizeof(history), "%s/history", run_last_folder(x->run));
	unlink(history);
	return run_replace(x->run, f, x->target, err);
}

int capture(struct explorer *x, uint32_t call, const struct finding *first, struct err *err)
{
	double until_seconds;
	struct finding f;
	int status;

	if (run_knows(x->run, first->signature)) {
		x->figures.repeats++;
		return 0;
	}
	until_seconds = work_until(x);
	status = tell(x, call, first, false, err);
	if (status < 0)
		return status;
	status = reproduce(x, call, first->signature, until_seconds, &f, err);
	if (!status)
		return tell(x, call, first, true, err);
	if (status < 0)
		return err_forget(err, status, ETIME);
	status = improve(x, &f, until_seconds, err);
	finding_free(&f);
	return status;
}
