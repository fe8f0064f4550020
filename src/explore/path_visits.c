/* path_visits.c -- states that a search reaches are shown, by the calls that lead to them. */
#include "explore/path_visits.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/must.h"
#include "explore/sharing.h"

/* Longer paths are not shown: what is found at their end could hardly be shrunk. */
enum { PATH_CALLS_MAX = 64 };
/* Of the share of the time, what states may take whose shape is not new. */
static const double any_share = 0.7;

void path_visits_begin(struct path_visits *v)
{
	*v = (struct path_visits){ .started_seconds = clock_seconds() };
}

void path_visits_free(struct path_visits *v)
{
	utility_free(&v->shapes);
	hash_map_free(&v->shown);
}

/* Whether the present state is to be shown now. */
static bool path_visits_wants(struct path_visits *v, struct explorer *x)
{
	const struct path_visitor *visitor = &x->options->paths;
	double spent = (double)v->us * 1e-6;
	double most = visitor->share * (clock_seconds() - v->started_seconds);
	char name[33];
	bool is_new;

	if (!visitor->visit || spent > most)
		return false;
	if (spent > any_share * most && utility_score(&v->shapes, &x->state, 0) < 1)
		return false;
	hash_print(state_hash(&x->state), name);
	hash_map_put(&v->shown, state_hash(&x->state), &is_new);
	return is_new && sharing_take_named(x, "shown", name);
}

/* The numbers of the calls from the start to the present state: of a branching search its history,
 * else the shortest way that is known. Returns how many; 0 for none, or too many. */
static size_t path_numbers(struct explorer *x, uint32_t ret[PATH_CALLS_MAX])
{
	int64_t len = 0;

	if (!strategy_branches(x->options->strategy)) {
		if (x->node != NODE_NONE)
			len = graph_path(&x->graph, x->root, x->node, ret, PATH_CALLS_MAX);
		return len > 0 && len <= PATH_CALLS_MAX ? (size_t)len : 0;
	}
	if (x->history.count > PATH_CALLS_MAX)
		return 0;
	for (size_t i = 0; i < x->history.count; i++)
		ret[i] = x->history.calls[i].call;
	return x->history.count;
}

/* Those of the calls that lead from one state to another, or make one durable; before them, those
 * that make the processes. Returns how many. */
static size_t path_calls(struct explorer *x, const uint32_t *numbers, size_t count,
			 struct arena *arena, struct call *ret)
{
	struct state s = state_copy(&x->start);
	size_t made = 0;

	for (unsigned i = 2; i <= x->universe->processes; i++)
		ret[made++] = explorer_process_call(x, i);
	for (size_t i = 0; i < count; i++) {
		struct hash before = state_hash(&s);
		struct outcome outcome;

		if (!history_call(x->universe, numbers[i], &s, arena, &ret[made]))
			break;
		model_run(x->predictor.model, &s, &ret[made], &outcome);
		made += !hash_equal(state_hash(&s), before) ||
			(op_table[ret[made].op].traits & TRAIT_SYNC && !outcome.error);
	}
	state_free(&s);
	return made;
}

int path_visits_look(struct path_visits *v, struct explorer *x, struct err *err)
{
	const struct path_visitor *visitor = &x->options->paths;
	uint32_t numbers[PATH_CALLS_MAX];
	struct arena arena = ARENA_INIT;
	double before = clock_seconds();
	struct call *calls;
	size_t count;
	int status = 0;

	if (!path_visits_wants(v, x))
		return 0;
	count = path_numbers(x, numbers);
	if (count) {
		calls = must_alloc((count + x->universe->processes) * sizeof(*calls));
		count = path_calls(x, numbers, count, &arena, calls);
		status = visitor->visit(visitor->to, calls, count, err);
		free(calls);
		v->count++;
	}
	v->us += (uint64_t)((clock_seconds() - before) * 1e6);
	arena_free(&arena);
	return status < 0 ? status : 0;
}
