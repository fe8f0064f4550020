/* branch.c -- depth first, breadth first, best first: the target is saved in every new state and
 * restored to try the next call in it.
 *
 * Calls that the model predicts to leave the state as it is need no restoring between them, so
 * they are made in one plan, up to the first that leads away. The strategy `remount` makes one
 * call at a time and always saves or restores after it; on a target where that means unmounting,
 * copying the image and mounting, it is the published way, for comparison.
 *
 * How many states stay saved is bounded (branch_saved.c); others are reached again by their calls
 * (branch_reach.c). Visited states are known exactly by the graph, or (bitstate) by three bits each
 * in a table that may lose a state but never invents one. */
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "explore/branch.h"
#include "explore/crowd.h"
#include "trace/script.h"

/* How often a state is sought in vain before it is given up. */
enum { MISSES_MAX = 3 };

/* Best first: what a state is worth after a plan, compared to before; and what it is worth more if
 * the call that led there came to code where nobody had been. Rare features are worth up to 1. */
static const double worn = 0.8, news_worth = 1;

int branch_follow_plan(struct branch *b, struct plan_end *ret_end, size_t *ret_done,
		       struct err *err)
{
	struct explorer *x = b->x;
	int status;

	if (x->crowd)
		return crowd_follow(x->crowd, x, b->steps, b->count, ret_done, err);
	status = explorer_follow(x->target, b->steps, b->count, ret_end, err);
	if (status >= 0)
		*ret_done = ret_end->done;
	return status;
}

/* After a surprise to one of a crowd all begin anew, and the call counts as tried. */
int branch_be_surprised(struct branch *b, uint32_t call, const struct plan_end *end,
			struct err *err)
{
	struct explorer *x = b->x;
	int status;

	b->at = NULL;
	if (!x->crowd)
		return surprise(x, call, end, err);
	status = crowd_judge(x->crowd, x, call, err);
	return status < 0 ? status : explorer_reset(x, err);
}

void branch_add_step(struct branch *b, uint32_t number, const struct call *c,
		     const struct outcome *expected)
{
	struct plan_step *step = &b->steps[b->count];

	step->call = *c;
	step->expected = *expected;
	if (expected->len)
		step->expected = outcome_copy(expected, &b->arena);
	step->tree = tree_hash(&b->after.tree);
	step->exact = step->observe = true;
	b->calls[b->count++] = number;
}

/* ---- openings ---- */

/* Unsynced changes after a call. */
static uint32_t dirty_after(uint32_t dirty, enum op op)
{
	unsigned traits = op_table[op].traits;

	if ((traits & TRAIT_SYNC) || op == OP_remount)
		return 0;
	return dirty + ((traits & (TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR)) != 0);
}

/* Opens x->state, in which the target is now. Takes over the way. */
static int open_state(struct branch *b, struct way *way, uint32_t dirty, struct err *err)
{
	struct explorer *x = b->x;
	struct opening *o = opening_new(&x->list, state_hash(&x->state), x->node, way);

	way_drop(&x->list.ways, way);
	o->dirty = dirty;
	opening_order(o, &x->rng, x->universe->calls);
	if (x->options->strategy == STRATEGY_BEST)
		o->score = utility_score(&b->utility, &x->state, o->dirty) +
			   (b->has_news ? news_worth : 0);
	open_list_add(&x->list, o);
	b->at = o;
	return branch_save(b, o, err);
}

/* Opens the present state, reached by a call from another, if it is not too deep. */
static int open_found(struct branch *b, const struct opening *from, uint32_t call, struct err *err)
{
	struct explorer *x = b->x;
	enum op op = x->universe->ops[universe_op_of(x->universe, call)].op;

	x->figures.edges_left += x->universe->calls;
	if (way_depth(from->way) + 1 >= x->options->depth_max)
		return 0;
	return open_state(b, way_new(&x->list.ways, from->way, call, x->node),
			  dirty_after(from->dirty, op), err);
}

static void close_first(struct branch *b)
{
	struct opening *o = open_list_take(&b->x->list);

	if (b->at == o)
		b->at = NULL;
	if (o->saved)
		branch_unsave(b, o);
	opening_free(&b->x->list, o);
}

void branch_end(struct explorer *x)
{
	while (open_list_first(&x->list))
		opening_free(&x->list, open_list_take(&x->list));
	open_list_free(&x->list);
	bitstate_free(&x->bits);
}

static int go_to(struct branch *b, const struct opening *o, struct err *err)
{
	struct explorer *x = b->x;
	int status = 0;

	if (b->at != o)
		status = branch_restore(b, o, err);
	if (status < 0)
		return status;
	b->at = o;
	x->node = o->node;
	state_free(&x->state);
	x->state = state_copy(&o->state);
	branch_recall(b, o);
	return 0;
}

/* ---- the search ---- */

/* Plans untried calls of an opening, up to the first that leads away. */
static void make_plan(struct branch *b, struct opening *o)
{
	struct explorer *x = b->x;
	bool single = x->options->strategy == STRATEGY_REMOUNT;
	size_t room = explorer_room(x, single ? 1 : BRANCH_PLAN_MAX);
	struct outcome expected;
	struct call call;
	uint32_t number;

	arena_reset(&b->arena);
	b->count = 0;
	b->leads_away = false;
	state_free(&b->after);
	b->after = state_copy(&o->state);
	for (; b->count < room && o->next < x->universe->calls && !b->leads_away; o->next++) {
		number = opening_call(o, o->next, x->universe->calls);
		universe_call(x->universe, number, &call);
		if (!lead(x, &b->after, &call, &expected)) {
			x->figures.beyond++;
			continue;
		}
		if (!expected.error) {
			b->after_hash = state_hash(&b->after);
			b->leads_away = !hash_equal(b->after_hash, o->hash);
		}
		b->places[b->count] = o->next;
		branch_add_step(b, number, &call, &expected);
	}
}

/* Goes to the state behind the plan. True if it is met for the first time. */
static bool enter(struct branch *b)
{
	struct explorer *x = b->x;
	uint64_t states = x->figures.states;

	explorer_pass(x, b->calls[b->count - 1], &b->steps[b->count - 1].expected,
		      explorer_visit(x, b->after_hash), true);
	state_free(&x->state);
	x->state = state_copy(&b->after);
	return x->figures.states > states;
}

/* The target did what was planned, up to `done`. All steps but the last stay in the state. */
static void settle(struct branch *b, const struct opening *o, size_t done)
{
	for (size_t i = 0; i < done; i++)
		explorer_pass(b->x, b->calls[i], &b->steps[i].expected, o->node, true);
}

static int follow(struct branch *b, struct opening *o, struct err *err)
{
	struct explorer *x = b->x;
	struct plan_end end;
	uint64_t states;
	size_t done;
	int status = branch_follow_plan(b, &end, &done, err);

	if (status < 0)
		return status;
	b->has_news = explorer_news(x, done < b->count ? done : done - 1);
	if (done == b->count) {
		settle(b, o, b->count - b->leads_away);
		if (b->leads_away || x->options->strategy == STRATEGY_REMOUNT)
			b->at = NULL;
		if (b->leads_away && enter(b))
			status = open_found(b, o, b->calls[done - 1], err);
		return status;
	}
	settle(b, o, done);
	x->figures.edges_left += o->next - (b->places[done] + 1);
	o->next = b->places[done] + 1;
	states = x->figures.states;
	status = branch_be_surprised(b, b->calls[done], &end, err);
	if (!status && x->figures.states > states)
		status = open_found(b, o, b->calls[done], err);
	return status;
}

/* A plan's worth of calls in the opening that comes first. */
static int expand(struct branch *b, struct opening *o, struct err *err)
{
	struct explorer *x = b->x;
	uint32_t before = o->next;
	bool best = x->options->strategy == STRATEGY_BEST;
	int status = go_to(b, o, err);

	if (status < 0)
		return status;
	/* A heap is not to change under an opening whose score does. */
	if (best)
		open_list_take(&b->x->list);
	make_plan(b, o);
	x->figures.edges_left -= o->next - before;
	if (b->count)
		status = follow(b, o, err);
	if (best) {
		o->score *= worn;
		if (o->saved)
			saved_list_update(&b->saved, o);
		open_list_add(&b->x->list, o);
	}
	return status;
}

/* An opening that cannot be reached again, because the target may answer one way or another, is
 * given up; its calls stay among those that are left. */
static int reach_first(struct branch *b, struct opening *o, struct err *err)
{
	bool there;
	int status = branch_reach(b, o, &there, err);

	if (status >= 0 && !there && ++o->missed >= MISSES_MAX)
		close_first(b);
	return status;
}

/* Goes on in the opening that comes first. */
static int go_on(struct branch *b, struct opening *o, struct err *err)
{
	if (o->next >= b->x->universe->calls) {
		close_first(b);
		return 0;
	}
	return o->saved ? expand(b, o, err) : reach_first(b, o, err);
}

int branch(struct explorer *x, struct err *err)
{
	struct branch *b = must_alloc(sizeof(*b));
	struct opening *o;
	int status = 0;

	b->x = x;
	b->after = state_copy(&x->start);
	branch_saved_init(b);
	if (!x->options->resume) {
		if (x->options->bitstate)
			bitstate_add(&x->bits, state_hash(&x->start));
		x->figures.edges_left = x->universe->calls;
		status = open_state(b, NULL, 0, err);
	}
	while (status >= 0 && !explorer_ends(x) && (o = open_list_first(&x->list)))
		status = go_on(b, o, err);
	if (!x->figures.end)
		x->figures.end = x->figures.edges_left ? "depth" : "exhausted";
	x->figures.exhausted = !x->figures.edges_left && !x->options->bitstate;
	branch_saved_free(b);
	utility_free(&b->utility);
	state_free(&b->after);
	arena_free(&b->arena);
	free(b);
	return status < 0 ? status : 0;
}
