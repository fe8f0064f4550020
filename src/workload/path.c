/* path.c -- the calls that lead to a state of a search, as a workload. */
#include "workload/path.h"

#include <stdio.h>

#include "workload/growing.h"

/* Calls that are added at most: sync, and those of an object. */
enum { NAME_MAX_BYTES = 48, ADDED_MAX = 1 + GROWING_SYNC_CALLS };

/* What a crash is to find under way: mostly a promise about one object. */
static void path_end(struct growing *g, const struct tree *before)
{
	struct call sync = { .op = OP_sync, .pid = 1 };
	uint64_t kind = rng_below(&g->rng, 8);

	if (!state_process(&g->state, 1))
		return;
	if (kind > 1)
		growing_sync_object(g, before);
	else
		growing_add(g, &sync);
}

void path_workload(const struct model *model, const struct state *start, const struct call *calls,
		   size_t count, uint64_t number, struct arena *arena, struct workload *ret)
{
	struct growing g;
	struct call sync = { .op = OP_sync, .pid = 1 };
	struct tree durable = tree_copy(&start->tree);
	char *name = arena_alloc(arena, NAME_MAX_BYTES);
	size_t synced;

	growing_begin(&g, model, start, count + ADDED_MAX, number, arena);
	synced = rng_chance(&g.rng, 1, 2) ? rng_below(&g.rng, count + 1) : 0;
	snprintf(name, NAME_MAX_BYTES, "path/%llu", (unsigned long long)number);
	*ret = (struct workload){ .name = name };
	for (size_t i = 0; i <= count; i++) {
		if (synced && i == synced) {
			growing_add(&g, &sync);
			tree_free(&durable);
			durable = tree_copy(&g.state.tree);
		}
		if (i < count)
			growing_add(&g, &calls[i]);
	}
	/* What precedes was crashed with the states that it leads through. */
	ret->setup_count = g.count;
	path_end(&g, &durable);
	ret->calls = g.calls;
	ret->count = g.count;
	tree_free(&durable);
	growing_end(&g);
}
