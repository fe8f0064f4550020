/* walk.c -- random walks through the model as workloads. */
#include "crash/walk.h"

#include <stdio.h>

#include "base/rng.h"
#include "plan/nearby.h"
#include "plan/predict.h"

enum { NAME_MAX_BYTES = 48, TRIES_FACTOR = 20 };

int walk_open(struct walk *w, const char *profile, const struct model *model,
	      const struct state *start, unsigned length, uint64_t seed, struct err *err)
{
	*w = (struct walk){ .model = model, .start = start, .length = length, .seed = seed };
	return universe_open(&w->universe, profile, NULL, 0, err);
}

void walk_close(struct walk *w)
{
	universe_free(&w->universe);
}

/* Whether a call can be a step: it succeeds, and the disk is asked for what it does. */
static bool walk_step(const struct walk *w, struct state *state, struct rng *rng,
		      struct arena *arena, struct call *ret)
{
	struct predictor predictor = { .model = w->model, .universe = &w->universe };
	struct state before = state_copy(state);
	struct outcome outcome;
	bool taken = nearby_call(&w->universe, universe_draw(&w->universe, rng), state, arena, ret);

	taken = taken && (!(op_table[ret->op].traits & TRAIT_ENV) || ret->op == OP_remount) &&
		predict(&predictor, state, ret, &outcome, NULL) && !outcome.error;
	if (!taken) {
		state_free(state);
		*state = before;
		return false;
	}
	state_free(&before);
	*ret = call_copy(ret, arena);
	return true;
}

void walk_workload(const struct walk *w, uint64_t index, struct arena *arena, struct workload *ret)
{
	struct call *calls = arena_alloc(arena, w->length * sizeof(*calls));
	char *name = arena_alloc(arena, NAME_MAX_BYTES);
	struct state state = state_copy(w->start);
	struct rng rng;
	size_t count = 0;

	rng_seed(&rng, w->seed ^ (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
	for (unsigned i = 0; i < TRIES_FACTOR * w->length && count < w->length; i++)
		count += walk_step(w, &state, &rng, arena, &calls[count]);
	state_free(&state);
	snprintf(name, NAME_MAX_BYTES, "walk/%llu", (unsigned long long)index);
	*ret = (struct workload){ .name = name, .calls = calls, .count = count };
}
