/* failing.c -- a workload in which a write to the disk fails. */
#include "workload/failing.h"

#include <fcntl.h>

#include "base/rng.h"

/* A call that makes something durable mostly has so many writes; and calls that are added: the
 * failure, a write again, the call again, the other file. */
enum { WRITES_USUAL = 6, ADDED_MAX = 7 };

/* Calls that change nothing: what they leave is known, also where they fail. */
static bool is_sync(enum op op)
{
	return op == OP_fsync || op == OP_fdatasync || op == OP_sync || op == OP_syncfs ||
	       op == OP_msync;
}

/* The call whose write fails; w->count: there is none. */
static size_t failing_choose(const struct workload *w, struct rng *rng)
{
	size_t chosen = w->count, seen = 0;

	for (size_t i = w->setup_count; i < w->count; i++)
		if (is_sync(w->calls[i].op) && !rng_below(rng, ++seen))
			chosen = i;
	return chosen;
}

/* The last write before that to a place that it names, which a program can repeat; `at`: there is
 * none. */
static size_t failing_last_write(const struct workload *w, size_t at)
{
	for (size_t i = at; i-- > 0;) {
		enum op op = w->calls[i].op;

		if (op == OP_pwrite || op == OP_pwrite_all || op == OP_write_file)
			return i;
	}
	return at;
}

/* A new file is written and synced, by the descriptor that it gets if nothing has failed. */
static size_t failing_add_file(struct state *s, const struct model *model, struct call *to)
{
	enum { BYTES = 3000, DATA = 9 };
	struct call calls[4] = { { .op = OP_open, .pid = 1 },
				 { .op = OP_write, .pid = 1 },
				 { .op = OP_fsync, .pid = 1 },
				 { .op = OP_close, .pid = 1 } };
	struct outcome opened;

	calls[0].open.path = (struct arg){ .text = "late", .len = 4 };
	calls[0].open.flags.num = O_RDWR | O_CREAT;
	calls[0].open.mode.num = 0644;
	model_run(model, s, &calls[0], &opened);
	if (opened.error)
		return 0;
	calls[1].write.fd.num = calls[2].fsync.fd.num = calls[3].close.fd.num = opened.num;
	calls[1].write.data = (struct arg){ .seed = DATA, .len = BYTES, .generated = true };
	calls[1].write.count.num = BYTES;
	for (size_t i = 0; i < 4; i++)
		to[i] = calls[i];
	return 4;
}

bool failing_workload(const struct model *model, const struct state *start,
		      const struct workload *w, uint64_t seed, struct arena *arena,
		      struct workload *ret)
{
	struct call fail = { .op = OP_fail_write, .pid = 1 };
	struct state s = state_copy(start);
	struct call *calls = arena_alloc(arena, (w->count + ADDED_MAX) * sizeof(*calls));
	struct rng rng;
	size_t at, again, count = 0;

	rng_seed(&rng, seed);
	at = failing_choose(w, &rng);
	again = rng_chance(&rng, 1, 2) ? failing_last_write(w, at) : at;
	fail.fail_write.nth.num = 1 + (int64_t)rng_below(&rng, WRITES_USUAL);
	for (size_t i = 0; i < w->count; i++) {
		struct outcome outcome;

		if (i == at) {
			calls[count++] = fail;
			calls[count++] = w->calls[i];
			if (again < at) {
				calls[count++] = w->calls[again];
				model_run(model, &s, &w->calls[again], &outcome);
			}
		}
		/* What a mount finds after a failure is not known. */
		if (i > at && w->calls[i].op == OP_remount)
			continue;
		calls[count++] = w->calls[i];
		model_run(model, &s, &w->calls[i], &outcome);
	}
	*ret = *w;
	ret->calls = calls;
	ret->count = count + failing_add_file(&s, model, calls + count);
	state_free(&s);
	return at < w->count;
}
