/* tally.c -- counts by call, and weights that move toward what was tried least. */
#include "explore/tally.h"

#include <stdlib.h>

#include "base/must.h"
#include "op/kind.h"

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

/* Parts of SCALE that the weight of something used `uses` times is to have, if the mean is `mean`:
 * rare things get more, within bounds. */
static uint64_t share_of(uint64_t uses, uint64_t mean)
{
	uint64_t share = (mean + 1) * SCALE / (uses + 1);

	if (share > SCALE * BOOST_MAX)
		return SCALE * BOOST_MAX;
	return share < SCALE / REDUCE_MAX ? SCALE / REDUCE_MAX : share;
}

static uint64_t made_before(const struct cover *before, enum op op)
{
	uint64_t made = 0;

	for (int error = 0; error < COVER_ERRNOS; error++)
		made += before->outputs[op][error];
	return made;
}

/* Operations that nobody tried are drawn more often. */
static void weigh_ops(struct universe *u, const struct cover *before)
{
	uint64_t made = 0;

	for (size_t op = 0; op < u->op_count; op++)
		made += made_before(before, u->ops[op].op);
	u->weight = 0;
	for (size_t op = 0; op < u->op_count; op++) {
		u->ops[op].weight *=
			(unsigned)share_of(made_before(before, u->ops[op].op), made / u->op_count);
		u->weight += u->ops[op].weight;
	}
}

void tally_init(struct tally *t, struct universe *u, const struct cover *before)
{
	*t = (struct tally){ .universe = u, .before = before };
	t->calls = must_alloc(u->calls * sizeof(*t->calls));
	t->outcomes = must_alloc(u->op_count * sizeof(*t->outcomes));
	t->weights = must_alloc(u->op_count * sizeof(*t->weights));
	for (size_t op = 0; op < u->op_count; op++)
		for (unsigned i = 0; i < op_table[u->ops[op].op].args; i++)
			own_pool(u, &u->ops[op].pools[i], &t->weights[op][i]);
	if (before) {
		weigh_ops(u, before);
		tally_adapt(t);
	}
}

void tally_free(struct tally *t)
{
	free(t->calls);
	free(t->outcomes);
	free(t->weights);
	*t = (struct tally){ 0 };
}

uint64_t tally_seen(const struct tally *t, size_t op, int error)
{
	uint64_t before = t->before ? t->before->outputs[t->universe->ops[op].op][error] : 0;

	return before + t->outcomes[op][error];
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

struct least {
	const uint64_t *counts; /* by partition */
	uint64_t least;
};

static void find_least(void *to, size_t partition)
{
	struct least *l = to;

	if (l->counts[partition] < l->least)
		l->least = l->counts[partition];
}

/* Uses before: a value is as well tried as the least tried of its partitions. */
static void count_before(const struct cover *before, const struct universe_op *op, unsigned arg,
			 uint64_t *counts)
{
	const struct pool *pool = &op->pools[arg];
	struct least l = { .counts = before->inputs[op->op][arg] };

	for (size_t v = 0; l.counts && v < pool->count; v++) {
		l.least = UINT64_MAX;
		kind_visit_partitions(op_table[op->op].arg[arg].kind, &pool->values[v], find_least,
				      &l);
		if (l.least < UINT64_MAX)
			counts[v] += l.least;
	}
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
	uint64_t sum = 0, used = 0;

	for (size_t i = 0; i < pool->count; i++)
		used += counts[i];
	for (size_t i = 0; i < pool->count; i++) {
		sum += base[i] * share_of(counts[i], used / pool->count);
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
		for (unsigned i = 0; i < args; i++) {
			counts[i] = must_alloc(u->ops[op].pools[i].count * sizeof(uint64_t));
			if (t->before)
				count_before(t->before, &u->ops[op], i, counts[i]);
		}
		count_values(t, &u->ops[op], args, counts);
		for (unsigned i = 0; i < args; i++) {
			weigh_pool(&u->ops[op].pools[i], t->weights[op][i], counts[i]);
			free(counts[i]);
		}
	}
}
