/* universe.c -- the calls of a universe: by number, and drawn by weight. */
#include "universe/universe.h"

#include "base/must.h"
#include "op/kind.h"

void universe_free(struct universe *u)
{
	arena_free(&u->arena);
	*u = (struct universe){ 0 };
}

size_t universe_op_of(const struct universe *u, uint64_t n)
{
	size_t low = 0, high = u->op_count, middle;

	must(n < u->calls);
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (u->ops[middle].first <= n)
			low = middle;
		else
			high = middle;
	}
	return low;
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

static size_t pool_draw(const struct pool *pool, struct rng *rng)
{
	uint64_t at = rng_below(rng, pool->sums[pool->count - 1]);
	size_t low = 0, high = pool->count - 1, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (pool->sums[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint64_t universe_draw_of(const struct universe *u, size_t number, struct rng *rng)
{
	const struct universe_op *op = &u->ops[number];
	uint64_t place = 0;

	/* Every other call is made by process 1: what others may do follows from what it did. */
	if (u->processes > 1 && rng_chance(rng, 1, 2))
		place = 1 + rng_below(rng, u->processes - 1);
	for (unsigned i = 0; i < op_table[op->op].args; i++)
		place = place * op->pools[i].count + pool_draw(&op->pools[i], rng);
	return op->first + place;
}

uint64_t universe_draw(const struct universe *u, struct rng *rng)
{
	uint64_t at = rng_below(rng, u->weight);
	size_t op = 0;

	for (; at >= u->ops[op].weight; op++)
		at -= u->ops[op].weight;
	return universe_draw_of(u, op, rng);
}
