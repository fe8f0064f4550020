/* states.c -- the states that a search for examples begins in. */
#include "manual/states.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum {
	NODES_MAX = 6000,
	BEGIN_COST = 50, /* the usual state is the best to begin with */
};

static void states_add(struct manual_states *s, struct state state, const struct manual_node *from,
		       const struct call *call, unsigned cost)
{
	struct manual_node *node = &s->nodes[s->count];
	bool new = false;

	if (s->count < NODES_MAX)
		hash_map_put(&s->known, state_hash(&state), &new);
	if (!new) {
		state_free(&state);
		return;
	}
	*node = (struct manual_node){ .state = state, .cost = from->cost + cost };
	memcpy(node->calls, from->calls, from->count * sizeof(*node->calls));
	node->count = from->count;
	node->has_user = from->has_user;
	if (call) {
		must(node->count < MANUAL_LINES_MAX - 1);
		node->calls[node->count++] = *call;
		node->has_user |= call->op == OP_create_process;
	}
	s->count++;
}

bool manual_state_step(const struct model *model, struct state *state, const struct call *call)
{
	struct envelope env;

	if (!state_process(state, call->pid) && call->op != OP_create_process)
		return false;
	model_move(model, state, call, &env);
	return env.success && !env.undefined;
}

static void states_extend(struct manual_states *s, const struct model *model,
			  const struct script *setups, size_t from)
{
	size_t end = s->count;

	for (size_t n = from; n < end; n++) {
		for (size_t i = 0; i < setups->count; i++) {
			struct state state = state_copy(&s->nodes[n].state);
			const struct call *call = &setups->items[i].call;

			if (manual_state_step(model, &state, call))
				states_add(s, state, &s->nodes[n], call,
					   MANUAL_LINE_COST + (unsigned)i);
			else
				state_free(&state);
		}
	}
}

static void states_begin(struct manual_states *s, const struct model *model,
			 const struct script *begin, unsigned cost)
{
	struct state_options options = MANUAL_STATE_OPTIONS;
	struct manual_node node = { .count = 0 };

	state_init(&node.state, &options);
	for (size_t i = 0; i < begin->count; i++) {
		must(manual_state_step(model, &node.state, &begin->items[i].call));
		node.calls[node.count++] = begin->items[i].call;
		node.has_user |= begin->items[i].call.op == OP_create_process;
	}
	states_add(s, node.state, &node, NULL, cost + (unsigned)begin->count * MANUAL_LINE_COST);
}

/* Shorter scripts come first, so that of two equal states the shorter is kept. */
void manual_states_prepare(struct manual_states *ret, const struct model *model,
			   const struct manual_setups *setups)
{
	size_t level = 0, next;

	*ret = (struct manual_states){ .nodes = must_alloc(NODES_MAX * sizeof(*ret->nodes)) };
	for (size_t i = 0; i < setups->begin_count; i++)
		states_begin(ret, model, &setups->begins[i], (unsigned)i * BEGIN_COST);
	for (unsigned depth = 0; depth < 2; depth++) {
		next = ret->count;
		states_extend(ret, model, &setups->calls, level);
		level = next;
	}
}

void manual_states_free(struct manual_states *s)
{
	for (size_t i = 0; i < s->count; i++)
		state_free(&s->nodes[i].state);
	hash_map_free(&s->known);
	free(s->nodes);
}

bool manual_example_keep(struct manual_example *e, const struct manual_node *node,
			 const struct call *call, unsigned cost)
{
	if (e->count && e->cost <= cost)
		return false;
	*e = (struct manual_example){ .count = node->count + 1, .cost = cost };
	memcpy(e->calls, node->calls, node->count * sizeof(*e->calls));
	e->calls[node->count] = *call;
	return true;
}

void manual_example_own(struct manual_example *e, struct arena *arena)
{
	for (unsigned n = 0; n < e->count; n++)
		e->calls[n] = call_copy(&e->calls[n], arena);
}
