/* tally.c -- counts by value, and weights that move toward what was tried least. */
#include "explore/tally.h"

#include <stdlib.h>

#include "base/must.h"
#include "op/kind.h"

enum {
	SCALE = 16,     /* parts of one unit of a profile's weight */
	BOOST_MAX = 16, /* at most so many times its share */
	REDUCE_MAX = 4, /* at least its share divided by this */
	OP_BOOST = 8,   /* of an operation with partitions not seen */
	OP_ENOUGH = 32, /* calls for each of its partitions: what is not seen then cannot be */
};

/* Pools are shared between operations until here; from now on each has its own sums. */
static void tally_own_pool(struct universe *u, struct pool *pool, struct tally_pool *ret)
{
	uint64_t *sums = arena_alloc(&u->arena, pool->count * sizeof(*sums));
	struct alias *aliases = arena_alloc(&u->arena, pool->count * sizeof(*aliases));

	ret->weights = must_alloc(pool->count * sizeof(*ret->weights));
	ret->made = must_alloc(pool->count * sizeof(*ret->made));
	ret->familiar = must_alloc(pool->count * sizeof(*ret->familiar));
	ret->coverage = must_alloc(pool->count * sizeof(*ret->coverage));
	for (size_t i = 0; i < pool->count; i++) {
		ret->weights[i] = pool->sums[i] - (i ? pool->sums[i - 1] : 0);
		sums[i] = pool->sums[i];
		aliases[i] = pool->aliases[i];
	}
	pool->sums = sums;
	pool->aliases = aliases;
}

/* Parts of SCALE that the weight of something used `uses` times is to have, if the mean is `mean`:
 * rare things get more, within bounds. */
static uint64_t tally_share(uint64_t uses, uint64_t mean)
{
	uint64_t share = (mean + 1) * SCALE / (uses + 1);

	if (share > SCALE * BOOST_MAX)
		return SCALE * BOOST_MAX;
	return share < SCALE / REDUCE_MAX ? SCALE / REDUCE_MAX : share;
}

static uint64_t tally_made_before(const struct cover *before, enum op op)
{
	uint64_t made = 0;

	for (int error = 0; error < COVER_ERRNOS; error++)
		made += before->outputs[op][error];
	return made;
}

/* Operations that were not tried are drawn more often. */
static void tally_weigh_ops(struct universe *u, const struct cover *before)
{
	uint64_t made = 0;

	for (size_t op = 0; op < u->op_count; op++)
		made += tally_made_before(before, u->ops[op].op);
	for (size_t op = 0; op < u->op_count; op++)
		u->ops[op].weight *= (unsigned)tally_share(tally_made_before(before, u->ops[op].op),
							   made / u->op_count);
}

static unsigned universe_op_args(const struct universe_op *op)
{
	return op_table[op->op].args;
}

void tally_init(struct tally *t, struct universe *u, const struct cover *before)
{
	*t = (struct tally){ .universe = u, .before = before };
	if (before)
		tally_weigh_ops(u, before);
	t->outcomes = must_alloc(u->op_count * sizeof(*t->outcomes));
	t->pools = must_alloc(u->op_count * sizeof(*t->pools));
	t->weights = must_alloc(u->op_count * sizeof(*t->weights));
	t->coverage = must_alloc(u->op_count * sizeof(*t->coverage));
	for (size_t op = 0; op < u->op_count; op++) {
		t->weights[op] = u->ops[op].weight;
		for (unsigned i = 0; i < universe_op_args(&u->ops[op]); i++)
			tally_own_pool(u, &u->ops[op].pools[i], &t->pools[op][i]);
	}
	cover_init(&t->found);
	if (before)
		tally_adapt(t);
}

void tally_count(struct tally *t, uint32_t n, const struct call *c, int error)
{
	size_t number = universe_op_of(t->universe, n);
	const struct universe_op *op = &t->universe->ops[number];
	uint64_t rest = n - op->first;

	t->outcomes[number][error < COVER_ERRNOS ? error : 0]++;
	for (unsigned i = universe_op_args(op); i--;) {
		const struct pool *pool = &op->pools[i];
		size_t value = rest % pool->count;

		rest /= pool->count;
		t->pools[number][i].made[value]++;
		if (pool->values[value].nearby)
			cover_value(&t->found.inputs[op->op][i], op_table[op->op].arg[i].kind,
				    &c->arg[i], 1);
	}
}

void tally_free(struct tally *t)
{
	for (size_t op = 0; op < t->universe->op_count; op++)
		for (unsigned i = 0; i < universe_op_args(&t->universe->ops[op]); i++) {
			free(t->pools[op][i].weights);
			free(t->pools[op][i].made);
			free(t->pools[op][i].familiar);
			free(t->pools[op][i].coverage);
		}
	free(t->outcomes);
	free(t->pools);
	free(t->weights);
	free(t->coverage);
	cover_free(&t->found);
	*t = (struct tally){ 0 };
}

static void tally_cover_pool(const struct tally *t, size_t number, unsigned arg, struct cover *ret)
{
	const struct universe_op *op = &t->universe->ops[number];
	const struct pool *pool = &op->pools[arg];
	const uint64_t *made = t->pools[number][arg].made;

	for (size_t v = 0; v < pool->count; v++)
		if (made[v] && !pool->values[v].nearby)
			cover_value(&ret->inputs[op->op][arg], op_table[op->op].arg[arg].kind,
				    &pool->values[v], made[v]);
}

void tally_cover(const struct tally *t, struct cover *ret)
{
	const struct universe *u = t->universe;

	for (size_t op = 0; op < u->op_count; op++) {
		for (unsigned i = 0; i < universe_op_args(&u->ops[op]); i++)
			tally_cover_pool(t, op, i, ret);
		for (int error = 0; error < COVER_ERRNOS; error++)
			cover_outcome(ret, u->ops[op].op, error, t->outcomes[op][error]);
	}
	cover_add(ret, &t->found);
}

/* How often an operation was called. */
static uint64_t tally_made(const struct tally *t, size_t number)
{
	uint64_t made = 0;

	for (int error = 0; error < COVER_ERRNOS; error++)
		made += t->outcomes[number][error];
	return made;
}

/* The partitions of one argument: how many of the pool's values are in each, and how often those
 * were used. */
struct partitions {
	uint64_t *values, *made;
	uint64_t times; /* of the value that is visited */
	uint64_t least; /* over the partitions visited: made, for one value */
	bool any;
};

static void partitions_count_one(void *to, size_t partition)
{
	struct partitions *p = to;

	p->values[partition]++;
	p->made[partition] += p->times;
}

static void partitions_find_least(void *to, size_t partition)
{
	struct partitions *p = to;
	uint64_t made = p->made[partition] / p->values[partition];

	if (!p->any || made < p->least)
		p->least = made;
	p->any = true;
}

/* before: counts by partition, or NULL. */
static void partitions_count(const struct pool *pool, enum kind kind, const struct tally_pool *own,
			     const uint64_t *before, struct partitions *ret)
{
	size_t count = kind_partitions(kind);

	*ret = (struct partitions){
		.values = must_alloc((count + 1) * sizeof(*ret->values)), /* some have none */
		.made = must_alloc((count + 1) * sizeof(*ret->made)),
	};
	for (size_t v = 0; v < pool->count; v++) {
		if (pool->values[v].nearby)
			continue;
		ret->times = own->made[v];
		kind_visit_partitions(kind, &pool->values[v], partitions_count_one, ret);
	}
	for (size_t i = 0; before && i < count; i++)
		ret->made[i] += before[i];
}

static void partitions_free(struct partitions *p)
{
	free(p->values);
	free(p->made);
}

/* Adds the partitions that the pool's values are in, and those that were used. found: uses of
 * values that followed from states, by partition, or NULL. */
static void tally_reach_add(const struct partitions *p, enum kind kind, const uint64_t *found,
			    struct tally_reach *to)
{
	for (size_t i = 0; i < kind_partitions(kind); i++) {
		bool met = found && found[i];

		to->inputs += p->values[i] || met;
		to->inputs_seen += (p->values[i] && p->made[i]) || met;
	}
}

static uint64_t tally_most(const uint64_t *counts, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (counts[i] > most)
			most = counts[i];
	return most;
}

/* How often something is to be drawn that brought this much, if most brought `most`. */
static uint64_t tally_boost(uint64_t coverage, uint64_t most)
{
	return most ? 1 + (BOOST_MAX - 1) * coverage / most : 1;
}

/* News grow old. */
static void tally_decay(uint64_t *coverage, size_t count)
{
	for (size_t i = 0; i < count; i++)
		coverage[i] /= 2;
}

static void tally_weigh_values(struct pool *pool, const struct tally_pool *own)
{
	uint64_t sum = 0, used = 0, most = tally_most(own->coverage, pool->count);

	for (size_t i = 0; i < pool->count; i++)
		used += own->familiar[i];
	for (size_t i = 0; i < pool->count; i++) {
		sum += own->weights[i] * tally_share(own->familiar[i], used / pool->count) *
		       tally_boost(own->coverage[i], most);
		pool->sums[i] = sum;
	}
	pool_weigh(pool);
	tally_decay(own->coverage, pool->count);
}

static void tally_adapt_pool(struct tally *t, size_t number, unsigned arg,
			     struct tally_reach *reach)
{
	struct universe_op *op = &t->universe->ops[number];
	struct tally_pool *own = &t->pools[number][arg];
	struct pool *pool = &op->pools[arg];
	enum kind kind = op_table[op->op].arg[arg].kind;
	struct partitions p;

	partitions_count(pool, kind, own, t->before ? t->before->inputs[op->op][arg] : NULL, &p);
	for (size_t v = 0; v < pool->count; v++) {
		p.any = false;
		if (!pool->values[v].nearby)
			kind_visit_partitions(kind, &pool->values[v], partitions_find_least, &p);
		own->familiar[v] = p.any ? p.least : own->made[v];
	}
	tally_reach_add(&p, kind, t->found.inputs[op->op][arg], reach);
	partitions_free(&p);
	tally_weigh_values(pool, own);
}

void tally_adapt(struct tally *t)
{
	struct universe *u = t->universe;
	uint64_t most = tally_most(t->coverage, u->op_count);

	for (size_t number = 0; number < u->op_count; number++) {
		struct universe_op *op = &u->ops[number];
		struct tally_reach reach = { 0 };
		uint64_t made = tally_made(t, number);

		for (unsigned i = 0; i < universe_op_args(op); i++)
			tally_adapt_pool(t, number, i, &reach);
		op->weight = t->weights[number] * (unsigned)tally_boost(t->coverage[number], most);
		if (reach.inputs_seen < reach.inputs && made < reach.inputs * OP_ENOUGH)
			op->weight *= OP_BOOST;
	}
	universe_weigh(u);
	tally_decay(t->coverage, u->op_count);
}

void tally_new_coverage(struct tally *t, uint64_t call, uint32_t points)
{
	size_t number = universe_op_of(t->universe, call);
	const struct universe_op *op = &t->universe->ops[number];
	uint64_t rest = call - op->first, worth = 0;

	if (!points)
		return;
	while (points >> worth)
		worth++;
	t->coverage[number] += worth;
	for (unsigned i = universe_op_args(op); i--; rest /= op->pools[i].count)
		t->pools[number][i].coverage[rest % op->pools[i].count] += worth;
}

double tally_familiarity(const struct tally *t, uint64_t call, int error)
{
	size_t op = universe_op_of(t->universe, call);
	int known = error < COVER_ERRNOS ? error : 0;
	uint64_t seen = t->outcomes[op][known];

	if (t->before)
		seen += t->before->outputs[t->universe->ops[op].op][known];
	return (double)seen / t->weights[op];
}

void tally_possible(const struct tally *t, struct cover *ret)
{
	const struct universe *u = t->universe;

	for (size_t number = 0; number < u->op_count; number++) {
		enum op op = u->ops[number].op;

		for (unsigned i = 0; i < op_table[op].args; i++) {
			const struct pool *pool = &u->ops[number].pools[i];

			for (size_t v = 0; v < pool->count; v++)
				if (!pool->values[v].nearby)
					cover_value(&ret->inputs[op][i], op_table[op].arg[i].kind,
						    &pool->values[v], 1);
		}
	}
}

uint64_t tally_outcomes(const struct tally *t)
{
	uint64_t count = 0;

	for (size_t number = 0; number < t->universe->op_count; number++)
		for (int error = 0; error < COVER_ERRNOS; error++)
			count += t->outcomes[number][error] > 0;
	return count;
}

struct tally_reach tally_reach(struct tally *t)
{
	const struct universe *u = t->universe;
	struct tally_reach reach = { 0 };
	struct partitions p;

	for (size_t number = 0; number < u->op_count; number++) {
		const struct universe_op *op = &u->ops[number];

		for (unsigned i = 0; i < universe_op_args(op); i++) {
			enum kind kind = op_table[op->op].arg[i].kind;

			partitions_count(&op->pools[i], kind, &t->pools[number][i], NULL, &p);
			tally_reach_add(&p, kind, t->found.inputs[op->op][i], &reach);
			partitions_free(&p);
		}
	}
	reach.outcomes_seen = tally_outcomes(t);
	return reach;
}
