/* capture.c -- from a discrepancy met on the way to a finding that anyone can reproduce.
 *
 * The search met it after perhaps a million calls. Replayed from a fresh file system are, in
 * turn: the shortest known way to the state and the call; then the shortest way to where the
 * search was 8, 64, 512 ... calls before, and those calls; at last everything. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "explore/explorer.h"
#include "op/script.h"

enum { SUFFIX_FIRST = 8, SUFFIX_FACTOR = 8, WAY_MAX = 1 << 14 };
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
	int way;

	c->count = 0;
	if (at) {
		way = graph_path(&x->graph, x->root, from, c->numbers, WAY_MAX);
		if (way < 0)
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
			 struct finding *ret, struct err *err)
{
	size_t count = c->count + x->universe->processes - 1;
	struct call *calls = must_alloc(count * sizeof(*calls));
	int status;

	write_calls(x, c, calls);
	status = judge_replay(x->target, &x->model, calls, count, true, ret, err);
	free(calls);
	if (status > 0 && strcmp(ret->signature, signature) && run_knows(x->run, ret->signature)) {
		finding_free(ret);
		return 0;
	}
	return status;
}

static int reproduce(struct explorer *x, uint32_t call, const char *signature, struct finding *ret,
		     struct err *err)
{
	struct candidate c = { must_alloc((WAY_MAX + HISTORY_MAX + 1) * sizeof(uint32_t)), 0 };
	size_t suffix = 0;
	int status = 0;

	for (;;) {
		if (compose(x, &c, suffix, call))
			status = try_candidate(x, &c, signature, ret, err);
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

int capture_once(struct explorer *x, uint32_t call, const struct finding *first, struct err *err)
{
	struct candidate c = { must_alloc((WAY_MAX + HISTORY_MAX + 1) * sizeof(uint32_t)), 0 };
	size_t suffix = x->history_count < SUFFIX_FIRST ? x->history_count : SUFFIX_FIRST;
	struct finding f = *first; /* shares its text */
	struct arena arena = ARENA_INIT;
	int status;

	if (!compose(x, &c, suffix, call))
		add_suffix(x, &c, suffix, call);
	fill_calls(x, &c, &arena, &f);
	f.tries = 1;
	f.shown = 0;
	status = run_add(x->run, &f, NULL, err);
	arena_free(&arena);
	free(c.numbers);
	return status;
}

int capture(struct explorer *x, uint32_t call, const struct finding *first, struct err *err)
{
	const struct explore_options *o = x->options;
	struct finding f;
	unsigned tries, times;
	bool hangs;
	int status;

	if (run_knows(x->run, first->signature)) {
		x->figures.repeats++;
		return 0;
	}
	status = reproduce(x, call, first->signature, &f, err);
	if (status == 0)
		return capture_once(x, call, first, err);
	if (status < 0)
		return status;
	hangs = f.code == FINDING_HANG;
	tries = hangs ? HANG_SHRINK_TRIES : o->shrink_tries;
	times = hangs ? HANG_VERIFY_TIMES : o->verify_times;
	if ((status = finding_shrink(&f, x->target, &x->model, tries, err)) == 0 &&
	    (status = finding_verify(&f, x->target, &x->model, times, err)) == 0 &&
	    !run_knows(x->run, f.signature)) {
		buf_adds(&f.rule, buf_str(&x->others));
		status = run_add(x->run, &f, x->target, err);
	}
	finding_free(&f);
	return status;
}
