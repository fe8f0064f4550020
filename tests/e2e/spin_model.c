/* spin_model.c -- the model for SPIN: states by number, and where each call leads.
 *
 * Shares the model and the universe with exploration, but not its search, its table of states or
 * its way to stay within the bounds. Which calls stay there is a table, because SPIN allows no
 * function in a condition. */
#include "tests/e2e/spin_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/map.h"
#include "base/must.h"
#include "model/model.h"
#include "universe/universe.h"

enum { STATES_MAX = 1 << 16 };

int spin_calls;
char (*spin_within)[SPIN_CALLS_MAX];

static struct model model;
static struct universe universe;
static struct state *states;
static struct hash_map numbers = HASH_MAP_INIT;

static bool is_within(const struct state *s)
{
	const struct inode *inode;
	uint64_t objects = 0, key;

	for (bool first = true;
	     (inode = (const struct inode *)pmap_next(&s->tree.inodes, first, &key));
	     first = false) {
		objects += inode->ino != TREE_ROOT;
		if (inode->size > universe.size_max)
			return false;
	}
	return objects <= universe.nodes_max;
}

/* The state behind a call; false if it is beyond the bounds. The caller frees it. */
static bool step(const struct state *from, int number, struct state *ret)
{
	struct envelope env;
	struct call call;

	*ret = state_copy(from);
	universe_call(&universe, (uint64_t)number, &call);
	model_move(&model, ret, &call, &env);
	return !env.undefined && is_within(ret);
}

static int number_of(const struct state *s)
{
	bool is_new;
	uint64_t *number = hash_map_put(&numbers, state_hash(s), &is_new);
	struct state next;

	if (!is_new)
		return (int)*number;
	*number = numbers.count - 1;
	must(*number < STATES_MAX);
	states[*number] = state_copy(s);
	for (int call = 0; call < spin_calls; call++) {
		spin_within[*number][call] = step(s, call, &next);
		state_free(&next);
	}
	return (int)*number;
}

int spin_step(int node, int call)
{
	struct state next;
	int to;

	must(step(&states[node], call, &next));
	to = number_of(&next);
	state_free(&next);
	return to;
}

static void __attribute__((constructor)) begin(void)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};
	struct err err = { 0 };
	struct state s;

	if (universe_open(&universe, "tiny", NULL, 0, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(2);
	}
	must(universe.calls <= SPIN_CALLS_MAX);
	spin_calls = (int)universe.calls;
	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	states = must_alloc(STATES_MAX * sizeof(*states));
	spin_within = must_alloc(STATES_MAX * sizeof(*spin_within));
	state_init(&s, &options);
	number_of(&s);
	state_free(&s);
}
