/* branch.c -- depth first, breadth first, best first: the target is saved in every new state and
 * restored to try the next call in it.
 *
 * Calls that the model predicts to leave the state as it is need no restoring between them, so
 * they are made in one plan, up to the first that leads away. The strategy `remount` makes one
 * call at a time and always saves or restores after it; on a target where that means unmounting,
 * copying the image and mounting, it is the published way, for comparison.
 *
 * Visited states are known exactly by the graph, or (bitstate) by three bits each in a table
 * that may lose a state but never invents one. */
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "explore/crowd.h"
#include "explore/explorer.h"
#include "explore/utility.h"
#include "op/script.h"

enum { PLAN_MAX = 64 };

/* Best first: what a state is worth after a plan, compared to before; and what it is worth more if
 * the call that led there came to code where nobody had been. Rare features are worth up to 1. */
static const double worn = 0.8, news_worth = 1;

struct branch {
	struct explorer *x;
	struct utility utility;
	uint64_t next_key;
	const struct opening *at; /* where the target is; NULL: elsewhere */
	struct plan_step steps[PLAN_MAX];
	uint32_t calls[PLAN_MAX];
	uint32_t places[PLAN_MAX]; /* in the opening's order of calls */
	size_t count;
	struct state after; /* the last step's, where it leads away; else the opening's */
	struct hash after_hash;
	bool leads_away;
	bool has_news; /* the last step came to code where nobody had been */
	struct arena arena;
};

static uint32_t greatest_common_divisor(uint32_t a, uint32_t b)
{
	uint32_t rest;

	for (; b; a = b, b = rest)
		rest = a % b;
	return a;
}

/* An order of all calls that differs from state to state and from seed to seed. */
static void order_calls(struct explorer *x, struct opening *o)
{
	uint32_t calls = (uint32_t)x->universe->calls;

	o->first = (uint32_t)rng_below(&x->rng, calls);
	do
		o->stride = (uint32_t)rng_below(&x->rng, calls) + 1;
	while (greatest_common_divisor(o->stride, calls) != 1);
}

static uint32_t nth_call(const struct explorer *x, const struct opening *o, uint32_t n)
{
	return (uint32_t)((o->first + (uint64_t)n * o->stride) % x->universe->calls);
}

/* ---- one target, or all of a crowd ---- */

static int save(const struct explorer *x, uint64_t key, struct err *err)
{
	return x->crowd ? crowd_save(x->crowd, key, err)
			: x->target->kind->save(x->target, key, err);
}

static int restore(const struct explorer *x, uint64_t key, struct err *err)
{
	return x->crowd ? crowd_restore(x->crowd, key, err)
			: x->target->kind->restore(x->target, key, err);
}

static void drop(const struct explorer *x, uint64_t key)
{
	if (x->crowd)
		crowd_drop(x->crowd, key);
	else if (x->target->kind->drop)
		x->target->kind->drop(x->target, key);
}

/* *ret_end is filled by a single target. */
static int follow_plan(struct branch *b, struct plan_end *ret_end, size_t *ret_done,
		       struct err *err)
{
	struct explorer *x = b->x;
	int status;

	if (x->crowd)
		return crowd_follow(x->crowd, b->steps, b->count, ret_done, err);
	status = target_follow(x->target, b->steps, b->count, ret_end, err);
	if (status >= 0)
		*ret_done = ret_end->done;
	return status;
}

/* After a surprise to one of a crowd all begin anew, and the call counts as tried. */
static int be_surprised(struct explorer *x, uint32_t call, const struct plan_end *end,
			struct err *err)
{
	int status;

	if (!x->crowd)
		return surprise(x, call, end, err);
	status = crowd_judge(x->crowd, x, call, err);
	return status < 0 ? status : explorer_reset(x, err);
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

/* Opens x->state, in which the target is now, reached by a call from the parent (NULL: none). */
static int open_state(struct branch *b, const struct opening *parent, uint32_t call,
		      struct err *err)
{
	struct explorer *x = b->x;
	struct opening *o = must_alloc(sizeof(*o));
	struct node *node;

	*o = (struct opening){
		.state = state_copy(&x->state),
		.hash = state_hash(&x->state),
		.saved = true,
		.key = b->next_key++,
		.node = x->node,
		.call = call,
	};
	if (parent) {
		o->depth = parent->depth + 1;
		o->dirty = dirty_after(parent->dirty,
				       x->universe->ops[universe_op_of(x->universe, call)].op);
	}
	if (o->node != NODE_NONE) {
		node = graph_node(&x->graph, o->node);
		node->via_node = parent ? parent->node : NODE_NONE;
		node->via_call = call;
	}
	order_calls(x, o);
	if (x->options->strategy == STRATEGY_BEST)
		o->score = utility_score(&b->utility, &o->state, o->dirty) +
			   (b->has_news ? news_worth : 0);
	open_list_add(&b->x->list, o);
	b->at = o;
	return save(x, o->key, err);
}

static void close_first(struct explorer *x)
{
	struct opening *o = open_list_take(&x->list);

	if (o->saved) {
		drop(x, o->key);
		state_free(&o->state);
	}
	free(o);
}

void branch_end(struct explorer *x)
{
	while (open_list_first(&x->list))
		close_first(x);
	open_list_free(&x->list);
	bitstate_free(&x->bits);
}

/* The calls that led to an opening become the history: depth first they are those of the
 * openings below it, else the graph knows. */
static void recall(struct branch *b, const struct opening *o)
{
	struct explorer *x = b->x;
	const struct node *node;
	uint32_t at = o->node;

	x->history_count = o->depth;
	if (open_list_is_stack(&b->x->list)) {
		for (size_t i = 0; i < o->depth; i++)
			x->history[i] = (struct passed){ b->x->list.items[i + 1]->call,
							 b->x->list.items[i + 1]->node };
		return;
	}
	for (size_t i = o->depth; i--; at = node->via_node) {
		node = graph_node(&x->graph, at);
		x->history[i] = (struct passed){ node->via_call, at };
	}
}

static int go_to(struct branch *b, const struct opening *o, struct err *err)
{
	struct explorer *x = b->x;
	int status = 0;

	if (b->at != o)
		status = restore(x, o->key, err);
	if (status < 0)
		return status;
	b->at = o;
	x->node = o->node;
	state_free(&x->state);
	x->state = state_copy(&o->state);
	recall(b, o);
	return 0;
}

static void add_step(struct branch *b, uint32_t number, const struct call *c,
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

/* Plans the next calls of the history, from place `from` on. False if the model does not go
 * along, as it did once. */
static bool plan_history(struct branch *b, size_t from)
{
	struct explorer *x = b->x;
	struct outcome expected;
	struct call call;
	uint32_t number;

	arena_reset(&b->arena);
	for (b->count = 0; b->count < PLAN_MAX && from + b->count < x->history_count;) {
		number = x->history[from + b->count].call;
		universe_call(x->universe, number, &call);
		if (!lead(x, &b->after, &call, &expected))
			return false;
		add_step(b, number, &call, &expected);
	}
	return true;
}

/* Makes the calls of the history on a fresh file system. *ret says whether all went as planned. */
static int follow_history(struct branch *b, bool *ret, struct err *err)
{
	struct explorer *x = b->x;
	struct plan_end end;
	size_t followed = 0;
	int status = 0;

	*ret = true;
	state_free(&b->after);
	b->after = state_copy(&x->start);
	for (size_t done = 0; *ret && done < x->history_count; done += b->count) {
		*ret = plan_history(b, done);
		if (*ret)
			status = follow_plan(b, &end, &followed, err);
		if (status < 0)
			return status;
		*ret = *ret && followed == b->count;
		x->figures.calls += b->count;
	}
	return 0;
}

/* An opening of a checkpoint is reached by its calls, and saved. One that cannot be reached
 * again, because the target may answer one way or another, is given up; its calls stay among
 * those that are left. */
static int reach_again(struct branch *b, struct opening *o, struct err *err)
{
	struct explorer *x = b->x;
	int status = explorer_reset(x, err);
	bool there;

	b->at = NULL;
	if (status < 0)
		return status;
	recall(b, o);
	status = follow_history(b, &there, err);
	if (status < 0)
		return status;
	if (!there || !hash_equal(state_hash(&b->after), o->hash)) {
		close_first(x);
		return 0;
	}
	o->state = state_copy(&b->after);
	o->key = b->next_key++;
	o->saved = true;
	b->at = o;
	return save(x, o->key, err);
}

/* Plans untried calls of an opening, up to the first that leads away. */
static void make_plan(struct branch *b, struct opening *o)
{
	struct explorer *x = b->x;
	bool single = x->options->strategy == STRATEGY_REMOUNT;
	size_t room = explorer_room(x, single ? 1 : PLAN_MAX);
	struct outcome expected;
	struct call call;
	uint32_t number;

	arena_reset(&b->arena);
	b->count = 0;
	b->leads_away = false;
	state_free(&b->after);
	b->after = state_copy(&o->state);
	for (; b->count < room && o->next < x->universe->calls && !b->leads_away; o->next++) {
		number = nth_call(x, o, o->next);
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
		add_step(b, number, &call, &expected);
	}
}

/* Goes to the state behind the plan. True if it is met for the first time. */
static bool enter(struct branch *b)
{
	struct explorer *x = b->x;
	uint64_t states = x->figures.states;
	uint32_t call = b->calls[b->count - 1], node = NODE_NONE;
	bool is_new;

	if (x->options->bitstate)
		x->figures.states += bitstate_add(&b->x->bits, b->after_hash);
	else
		node = graph_put(&x->graph, b->after_hash, &is_new);
	explorer_pass(x, call, 0, node, true);
	state_free(&x->state);
	x->state = state_copy(&b->after);
	return x->figures.states > states;
}

/* The target did what was planned, up to `done`. All steps but the last stay in the state. */
static void settle(struct branch *b, const struct opening *o, size_t done)
{
	for (size_t i = 0; i < done; i++)
		explorer_pass(b->x, b->calls[i], b->steps[i].expected.error, o->node, true);
}

/* Opens the present state if it is not too deep. */
static int open_found(struct branch *b, const struct opening *o, uint32_t call, struct err *err)
{
	b->x->figures.edges_left += b->x->universe->calls;
	if (o->depth + 1 >= b->x->options->depth_max)
		return 0;
	return open_state(b, o, call, err);
}

static int follow(struct branch *b, struct opening *o, struct err *err)
{
	struct explorer *x = b->x;
	struct plan_end end;
	uint64_t states;
	size_t done;
	int status = follow_plan(b, &end, &done, err);

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
	b->at = NULL;
	x->figures.edges_left += o->next - (b->places[done] + 1);
	o->next = b->places[done] + 1;
	states = x->figures.states;
	status = be_surprised(x, b->calls[done], &end, err);
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
		open_list_add(&b->x->list, o);
	}
	return status;
}

/* Goes on in the opening that comes first. */
static int go_on(struct branch *b, struct opening *o, struct err *err)
{
	if (!o->saved)
		return reach_again(b, o, err);
	if (o->next < b->x->universe->calls)
		return expand(b, o, err);
	if (b->at == o)
		b->at = NULL;
	close_first(b->x);
	return 0;
}

int branch(struct explorer *x, struct err *err)
{
	struct branch *b = must_alloc(sizeof(*b));
	struct opening *o;
	int status = 0;

	b->x = x;
	b->after = state_copy(&x->start);
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
	utility_free(&b->utility);
	state_free(&b->after);
	arena_free(&b->arena);
	free(b);
	return status < 0 ? status : 0;
}
