/* tally.c -- counts by call, and weights that move toward what was tried least. */
#include "explore/tally.h"

#include <stdlib.h>

#include "base/must.h"

enum {
	SCALE = 16,     /* parts of one unit of a profile's weight */
	BOOST_MAX = 16, /* at most so many times its share */
	REDUCE_MAX = 4, /* at least its share divided by this */
};

/* Pools are shared between operations until here; from now on each has sums of its own. */
static void own_pool(struct universe *u, struct pool *pool, uint64_t **ret_weights)
{
	uint64_t *sums = arena_alloc(&u->arena, pool->count * sizeof(*sums));
	uint64_t *weights = arena_alloc(&u->arena, pool->count * sizeof(*weights));

	for (size_t i = 0; i < pool->count; i++) {
		weights[i] = pool->sums[i] - (i ? pool->sums[i - 1] : 0);
		sums[i] = pool->sums[i];
	}
	pool->sums = sums;
	*ret_weights = weights;
}

void tally_init(struct tally *t, struct universe *u)
{
	*t = (struct tally){ .universe = u };
	t->calls = must_alloc(u->calls * sizeof(*t->calls));
	t->outcomes = must_alloc(u->op_count * sizeof(*t->outcomes));
	t->weights = must_alloc(u->op_count * sizeof(*t->weights));
	for (size_t op = 0; op < u->op_count; op++)
		for (unsigned i = 0; i < op_table[u->ops[op].op].args; i++)
			own_pool(u, &u->ops[op].pools[i], &t->weights[op][i]);
}

void tally_free(struct tally *t)
{
	free(t->calls);
	free(t->outcomes);
	free(t->weights);
	*t = (struct tally){ 0 };
}

void tally_cover(const struct tally *t, struct cover *ret)
{
	const struct universe *u = t->universe;
	struct call call;

	for (uint64_t n = 0; n < u->calls; n++) {
		if (!t->calls[n])
			continue;
		universe_call(u, n, &call);
		cover_call(ret, &call, t->calls[n]);
	}
	for (size_t op = 0; op < u->op_count; op++)
		for (int error = 0; error < COVER_ERRNOS; error++)
			cover_outcome(ret, u->ops[op].op, error, t->outcomes[op][error]);
}

/* How often each value of each argument of an operation was used. */
static void count_values(const struct tally *t, const struct universe_op *op, unsigned args,
			 uint64_t *counts[OP_ARGS_MAX])
{
	uint64_t rest;

	for (uint64_t n = 0; n < op->calls; n++) {
		rest = n;
		for (unsigned i = args; i--; rest /= op->pools[i].count)
			counts[i][rest % op->pools[i].count] += t->calls[op->first + n];
	}
}

static void weigh_pool(struct pool *pool, const uint64_t *base, const uint64_t *counts)
{
	uint64_t sum = 0, used = 0, share;

	for (size_t i = 0; i < pool->count; i++)
		used += counts[i];
	for (size_t i = 0; i < pool->count; i++) {
		share = (used / pool->count + 1) * SCALE / (counts[i] + 1);
		if (share > SCALE * BOOST_MAX)
			share = SCALE * BOOST_MAX;
		if (share < SCALE / REDUCE_MAX)
			share = SCALE / REDUCE_MAX;
		sum += base[i] * share;
		pool->sums[i] = sum;
	}
}

void tally_adapt(struct tally *t)
{
	struct universe *u = t->universe;
	uint64_t *counts[OP_ARGS_MAX];
	unsigned args;

	for (size_t op = 0; op < u->op_count; op++) {
		args = op_table[u->ops[op].op].args;
		for (unsigned i = 0; i < args; i++)
			counts[i] = must_alloc(u->ops[op].pools[i].count * sizeof(uint64_t));
		count_values(t, &u->ops[op], args, counts);
		for (unsigned i = 0; i < args; i++) {
			weigh_pool(&u->ops[op].pools[i], t->weights[op][i], counts[i]);
			free(counts[i]);
		}
	}
}
