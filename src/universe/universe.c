/* universe.c -- the calls of a universe: by number, and drawn by weight. */
#include "universe/universe.h"

#include <stdlib.h>

#include "base/must.h"
#include "op/kind.h"

void universe_free(struct universe *u)
{
	arena_free(&u->arena);
	*u = (struct universe){ 0 };
}

void pool_weigh(struct pool *pool)
{
	alias_fill(pool->aliases, pool->sums, pool->count);
}

void universe_weigh(struct universe *u)
{
	uint64_t *sums = must_alloc(u->op_count * sizeof(*sums));

	u->weight = 0;
	for (size_t op = 0; op < u->op_count; op++)
		sums[op] = u->weight += u->ops[op].weight;
	alias_fill(u->aliases, sums, u->op_count);
	free(sums);
}

static void universe_index_calls(struct universe *u)
{
	size_t op = 0;

	u->guide_shift = 0;
	while (u->calls >> u->guide_shift > UNIVERSE_GUIDE - 1)
		u->guide_shift++;
	for (size_t i = 0; i < UNIVERSE_GUIDE; i++) {
		while (op + 1 < u->op_count && u->firsts[op + 1] <= (uint64_t)i << u->guide_shift)
			op++;
		u->guide[i] = (uint16_t)op;
	}
}

void universe_index(struct universe *u)
{
	if (!u->firsts) {
		u->firsts = arena_alloc(&u->arena, u->op_count * sizeof(*u->firsts));
		u->aliases = arena_alloc(&u->arena, u->op_count * sizeof(*u->aliases));
		u->guide = arena_alloc(&u->arena, UNIVERSE_GUIDE * sizeof(*u->guide));
	}
	u->calls = 0;
	for (size_t op = 0; op < u->op_count; op++) {
		u->firsts[op] = u->ops[op].first = u->calls;
		u->calls += u->ops[op].calls;
	}
	universe_index_calls(u);
	if (u->op_count)
		universe_weigh(u);
}

size_t universe_op_of(const struct universe *u, uint64_t n)
{
	size_t op;

	must(n < u->calls);
	op = u->guide[n >> u->guide_shift];
	while (op + 1 < u->op_count && u->firsts[op + 1] <= n)
		op++;
	return op;
}

void universe_fit_data(struct call *c)
{
	const struct op_info *info = &op_table[c->op];
	int64_t count;

	for (unsigned i = 0; i + 1 < info->args; i++) {
		count = c->arg[i + 1].num;
		if (c->arg[i].generated && kind_table[info->arg[i + 1].kind]->sizes_data)
			c->arg[i].len = count >= 0 && count <= UINT32_MAX ? (uint32_t)count : 0;
	}
}

/* The number of a call is that of its operation's first and, in the mixed radix of the pools'
 * sizes, its process and the places of its values; the last argument changes fastest. */
bool universe_call(const struct universe *u, uint64_t n, struct call *ret)
{
	const struct universe_op *op = &u->ops[universe_op_of(u, n)];
	const struct pool *pool;
	bool nearby = false;

	n -= op->first;
	*ret = (struct call){ .op = (uint16_t)op->op };
	for (unsigned i = op_table[op->op].args; i-- > 0;) {
		pool = &op->pools[i];
		ret->arg[i] = pool->values[n % pool->count];
		nearby |= ret->arg[i].nearby > 0;
		n /= pool->count;
	}
	ret->pid = (uint16_t)(1 + n);
	universe_fit_data(ret);
	return nearby;
}

/* Every other call is made by process 1: what others may do follows from what it did. */
static uint64_t universe_draw_process(const struct universe *u, struct rng *rng)
{
	if (u->processes > 1 && rng_chance(rng, 1, 2))
		return 1 + rng_below(rng, u->processes - 1);
	return 0;
}

uint64_t universe_draw_of(const struct universe *u, size_t number, struct rng *rng)
{
	const struct universe_op *op = &u->ops[number];
	uint64_t place = universe_draw_process(u, rng);

	for (unsigned i = 0; i < op_table[op->op].args; i++) {
		const struct pool *pool = &op->pools[i];

		place = place * pool->count + alias_draw(pool->aliases, pool->count, rng);
	}
	return op->first + place;
}

bool universe_draw_if(const struct universe *u, size_t number, const struct universe_places *places,
		      struct rng *rng, uint64_t *ret)
{
	const struct universe_op *op = &u->ops[number];
	uint64_t place = universe_draw_process(u, rng);
	unsigned pid = 1 + (unsigned)place;

	for (unsigned i = 0; i < op_table[op->op].args; i++) {
		const struct pool *pool = &op->pools[i];
		size_t value = alias_draw(pool->aliases, pool->count, rng);
		unsigned nearby = pool->values[value].nearby;

		if (nearby && !places->has(places->to, pid, op_table[op->op].arg[i].kind, nearby))
			return false;
		place = place * pool->count + value;
	}
	*ret = op->first + place;
	return true;
}

size_t universe_draw_op(const struct universe *u, struct rng *rng)
{
	return alias_draw(u->aliases, u->op_count, rng);
}

uint64_t universe_draw(const struct universe *u, struct rng *rng)
{
	return universe_draw_of(u, universe_draw_op(u, rng), rng);
}
