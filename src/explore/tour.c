/* tour.c -- every call in every state once, on one file system that is never restored.
 *
 * In the state where it is, the tour takes a call that was not tried there yet; where none is
 * left, it walks by known calls to the nearest state that has one. It plans ahead in the model,
 * many calls at a time, and the target follows the plan; what the target did not get to do
 * because of a surprise is taken back. A random walk is the same without preferring anything. */
#include <stdlib.h>

#include "base/must.h"
#include "explore/choose.h"
#include "explore/crowd.h"
#include "explore/explorer.h"
#include "trace/script.h"

enum { PLAN_MIN = 8, PLAN_MAX = 128, PLAN_OBJECTS = 4096, WAY_MAX = 1 << 16 };

/* What a step of the plan means in the graph. */
struct move {
	uint32_t from, call, to;
	bool fresh; /* the edge is new */
	bool probe; /* no move at all: looks at what the move before has touched */
};

struct tour {
	struct explorer *x;
	struct plan_step steps[PLAN_MAX + 1]; /* the last one has room for its probe */
	struct move moves[PLAN_MAX + 1];
	size_t count;
	struct state state; /* the model's, behind the last step */
	uint32_t node;
	uint32_t *way; /* known calls to where something is left to try */
	size_t way_len, way_next;
	uint64_t planned;   /* steps, for sampling */
	struct arena arena; /* bytes of expected outcomes */
};

/* Plans to see the object again that the last move was about. */
static void add_probe(struct tour *t)
{
	const struct call *c = &t->steps[t->count - 1].call;
	struct plan_step *step = &t->steps[t->count];
	struct state s;
	struct outcome outcome;

	if (op_table[c->op].arg[0].kind != KIND_PATH || !op_table[c->op].args)
		return;
	*step = (struct plan_step){ .call = { .op = OP_lstat, .pid = c->pid }, .exact = true };
	step->call.arg[0] = c->arg[0];
	s = state_copy(&t->state);
	model_run(&t->x->model, &s, &step->call, &outcome);
	state_free(&s);
	step->expected = outcome;
	t->moves[t->count++] = (struct move){ .probe = true };
}

static void add_step(struct tour *t, const struct call *c, const struct outcome *expected,
		     const struct move *move)
{
	unsigned every = t->x->options->verify_every;
	struct plan_step *step = &t->steps[t->count];

	step->call = *c;
	step->expected = *expected;
	if (expected->len)
		step->expected = outcome_copy(expected, &t->arena);
	step->tree = tree_hash(&t->state.tree);
	step->exact = true;
	step->observe = t->planned++ % every == 0;
	t->moves[t->count++] = *move;
	if (!step->observe && !expected->error)
		add_probe(t);
}

/* Plans one more call, or finds that it leads beyond the bounds. */
static void plan_call(struct tour *t, uint32_t number)
{
	struct explorer *x = t->x;
	struct move move = { .from = t->node, .call = number, .to = t->node };
	struct outcome expected;
	struct call call;

	universe_call(x->universe, number, &call);
	move.fresh = graph_edge(&x->graph, t->node, number) == NODE_NONE;
	if (!lead(x, &t->state, &call, &expected)) {
		x->figures.beyond += move.fresh;
		graph_set_edge(&x->graph, t->node, number, NODE_BEYOND);
		return;
	}
	if (!expected.error)
		move.to = explorer_node(x, &t->state);
	if (move.fresh)
		graph_set_edge(&x->graph, t->node, number, move.to);
	add_step(t, &call, &expected, &move);
	t->node = move.to;
}

/* The next call of the plan; NODE_NONE if there is nothing left to try from here. */
static uint32_t next_call(struct tour *t)
{
	struct explorer *x = t->x;
	uint32_t call;
	int64_t len;

	if (x->options->strategy == STRATEGY_RANDOM)
		return choose_any(x);
	if (t->way_next < t->way_len)
		return t->way[t->way_next++];
	call = choose_untried(x, &t->state, t->node);
	if (call != NODE_NONE)
		return call;
	len = graph_path(&x->graph, t->node, NODE_NONE, t->way, WAY_MAX);
	if (len <= 0)
		return NODE_NONE;
	/* Of a longer way the first part; there it goes on. */
	t->way_len = len < WAY_MAX ? (size_t)len : WAY_MAX;
	t->way_next = 1;
	return t->way[0];
}

/* A step takes as long as the walk behind it: of a large tree a plan has fewer, so that a search
 * can end in time. */
static size_t plan_size(const struct tour *t)
{
	size_t steps = PLAN_OBJECTS / t->state.tree.inodes.count;

	if (steps > PLAN_MAX)
		return PLAN_MAX;
	return steps > PLAN_MIN ? steps : PLAN_MIN;
}

/* Plans until it is full, or until nothing is left to try. */
static void make_plan(struct tour *t)
{
	size_t room = explorer_room(t->x, plan_size(t));
	uint32_t call;

	arena_reset(&t->arena);
	t->count = 0;
	while (t->count < room && (call = next_call(t)) != NODE_NONE)
		plan_call(t, call);
}

static void drop_plan(struct tour *t)
{
	struct explorer *x = t->x;

	state_free(&t->state);
	t->state = state_copy(&x->state);
	t->node = x->node;
	t->way_len = t->way_next = 0;
}

/* The move that the target did not follow: the one a probe belongs to, where it was a probe. */
static size_t failed_move(const struct tour *t, struct plan_end *end)
{
	size_t failed = end->done;

	if (!t->moves[failed].probe)
		return failed;
	plan_end_of_probe(end, &t->steps[failed - 1].expected);
	return failed - 1;
}

/* Counts the moves made and goes to where they led. */
static void settle(struct tour *t, size_t done)
{
	struct explorer *x = t->x;
	struct outcome outcome;

	for (size_t i = 0; i < done; i++) {
		const struct move *m = &t->moves[i];

		if (m->probe)
			continue;
		if (done < t->count)
			model_run(&x->model, &x->state, &t->steps[i].call, &outcome);
		explorer_pass(x, m->call, &t->steps[i].expected, m->to, m->fresh);
		tally_news(&x->tally, m->call, explorer_news(x, i));
	}
	if (done < t->count)
		return;
	state_free(&x->state);
	x->state = state_copy(&t->state);
}

/* Edges of the plan from this move on are taken back. */
static void take_back(struct tour *t, size_t from)
{
	for (size_t i = from; i < t->count; i++)
		if (!t->moves[i].probe && t->moves[i].fresh)
			graph_drop_edge(&t->x->graph, t->moves[i].from, t->moves[i].call);
}

/* Several targets follow: after a surprise to one of them all begin anew, and the call that
 * surprised counts as tried. */
static int follow_together(struct tour *t, struct err *err)
{
	struct explorer *x = t->x;
	struct move *move;
	size_t failed;
	int status = crowd_follow(x->crowd, x, t->steps, t->count, &failed, err);

	if (status < 0)
		return status;
	if (failed < t->count && t->moves[failed].probe)
		crowd_probed(x->crowd, &t->steps[--failed].expected);
	if (failed < t->count)
		take_back(t, failed);
	settle(t, failed);
	if (failed == t->count)
		return 0;
	move = &t->moves[failed];
	status = crowd_judge(x->crowd, x, move->call, err);
	graph_set_edge(&x->graph, move->from, move->call, NODE_BEYOND);
	if (status >= 0)
		status = explorer_reset(x, err);
	drop_plan(t);
	return status;
}

static int follow(struct tour *t, struct err *err)
{
	struct explorer *x = t->x;
	struct plan_end end;
	size_t failed;
	int status = explorer_follow(x->target, t->steps, t->count, &end, err);

	if (status < 0)
		return status;
	if (end.done == t->count) {
		settle(t, t->count);
		return 0;
	}
	failed = failed_move(t, &end);
	take_back(t, failed);
	settle(t, failed);
	status = surprise(x, t->moves[failed].call, &end, err);
	drop_plan(t);
	return status;
}

/* Nothing is left to try from here; there may be from a fresh file system. Returns 1 if not. */
static int start_over(struct tour *t, struct err *err)
{
	struct explorer *x = t->x;
	int status;

	if (graph_path(&x->graph, x->root, NODE_NONE, t->way, WAY_MAX) < 0)
		return 1;
	status = explorer_reset(x, err);
	drop_plan(t);
	return status;
}

static void count_left(struct explorer *x)
{
	x->figures.edges_left = graph_left(&x->graph);
}

int tour(struct explorer *x, struct err *err)
{
	struct tour *t = must_alloc(sizeof(*t));
	int status = 0;

	t->x = x;
	t->way = must_alloc(WAY_MAX * sizeof(*t->way));
	t->state = state_copy(&x->state);
	t->node = x->node;
	while (!status && !explorer_ends(x)) {
		make_plan(t);
		if (t->count && x->crowd)
			status = follow_together(t, err);
		else if (t->count)
			status = follow(t, err);
		else
			status = start_over(t, err);
		if (!status && explorer_is_long(x)) {
			status = explorer_reset(x, err);
			drop_plan(t);
		}
		count_left(x);
	}
	x->figures.exhausted = status == 1 && !x->figures.edges_left;
	if (status == 1)
		x->figures.end = x->figures.exhausted ? "exhausted" : "unreachable";
	state_free(&t->state);
	arena_free(&t->arena);
	free(t->way);
	free(t);
	return status < 0 ? status : 0;
}
