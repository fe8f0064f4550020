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
#include "explore/sharing.h"
#include "plan/nearby.h"

/* How often a state is sought without success before it is given up. */
enum { MISSES_MAX = 3 };

/* Best first: the score of a state is multiplied by `decay` after every plan in it. Rare features
 * count up to 1; a call that ran code for the first time adds `new_coverage_score`. */
static const double decay = 0.8, new_coverage_score = 1;

/* ---- open states ---- */

/* Unsynced changes after a call. */
static uint32_t branch_dirty_after(uint32_t dirty, enum op op)
{
	unsigned traits = op_table[op].traits;

	if ((traits & TRAIT_SYNC) || op == OP_remount)
		return 0;
	return dirty + ((traits & (TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR)) != 0);
}

/* Opens x->state, in which the target is now. The path is its own from now on. */
static int branch_open(struct branch *b, struct call_path *path, uint32_t dirty, struct err *err)
{
	struct explorer *x = b->x;
	struct open_state *o = open_state_new(&x->list, state_hash(&x->state), x->node, path);

	call_path_drop(&x->list.paths, path);
	o->dirty = dirty;
	open_state_order(o, &x->rng, x->universe->calls);
	if (x->options->strategy == STRATEGY_BEST)
		o->score = utility_score(&x->utility, &x->state, o->dirty) +
			   (b->has_new_coverage ? new_coverage_score : 0);
	open_list_add(&x->list, o);
	b->at = o;
	return branch_save(b, o, err);
}

/* The same, unless another worker has it. */
static int branch_take(struct branch *b, struct call_path *path, uint32_t dirty, struct err *err)
{
	struct explorer *x = b->x;
	struct hash state = state_hash(&x->state);

	if (sharing_take(x, state))
		return branch_open(b, path, dirty, err);
	x->figures.edges_left -= x->universe->calls;
	branch_share_skip(b, state, x->node, path, dirty);
	return 0;
}

/* Opens the present state, reached by a call from another, if it is not too deep. */
static int branch_open_found(struct branch *b, const struct open_state *from, uint32_t call,
			     struct err *err)
{
	struct explorer *x = b->x;
	enum op op = x->universe->ops[universe_op_of(x->universe, call)].op;
	uint32_t dirty = branch_dirty_after(from->dirty, op);

	x->figures.edges_left += x->universe->calls;
	if (call_path_depth(from->path) + 1 >= x->options->depth_max)
		return 0;
	return branch_take(b, call_path_new(&x->list.paths, from->path, call, x->node), dirty, err);
}

static void branch_close_first(struct branch *b)
{
	struct open_state *o = open_list_take(&b->x->list);

	if (b->at == o)
		b->at = NULL;
	if (o->saved)
		branch_unsave(b, o);
	open_state_free(&b->x->list, o);
}

void branch_forget(struct explorer *x)
{
	struct open_list *const lists[] = { &x->foreign, &x->received, &x->list };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		while (open_list_first(lists[i]))
			open_state_free(&x->list, open_list_take(lists[i]));
		open_list_free(lists[i]);
	}
	bitstate_free(&x->bits);
}

static int branch_go_to(struct branch *b, const struct open_state *o, struct err *err)
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

/* Plans untried calls of an open state, up to the first that leads away. */
static void branch_plan(struct branch *b, struct open_state *o)
{
	struct explorer *x = b->x;
	bool single = x->options->strategy == STRATEGY_REMOUNT;
	size_t room = explorer_room(x, single ? 1 : BRANCH_PLAN_MAX);
	const struct plan_step *step;
	struct call call;
	uint32_t number;

	plan_begin(&b->plan, &o->state);
	b->leads_away = false;
	for (; b->plan.count < room && o->next < x->universe->calls && !b->leads_away; o->next++) {
		number = open_state_call(o, o->next, x->universe->calls);
		step = NULL;
		if (nearby_call(x->universe, number, &o->state, &b->plan.arena, &call))
			step = plan_add(&b->plan, &call, true);
		if (!step) {
			x->figures.beyond++;
			continue;
		}
		if (!step->expected.error) {
			b->leads_away = !hash_equal(state_hash(&b->plan.state), o->hash);
		}
		b->calls[b->plan.count - 1] = number;
		b->places[b->plan.count - 1] = o->next;
	}
}

/* The targets did what was planned, up to `done`. All steps but the last stay in the state. */
static void branch_settle(struct branch *b, const struct open_state *o, size_t done)
{
	const struct plan *p = &b->plan;
	bool away = b->leads_away && done == p->count;

	for (size_t i = 0; i < done - away; i++)
		explorer_advance(b->x, b->calls[i], &p->steps[i].call, &p->steps[i].expected,
				 o->node, true);
	if (away)
		explorer_advance(b->x, b->calls[done - 1], &p->steps[done - 1].call,
				 &p->steps[done - 1].expected,
				 explorer_visit(b->x, &p->state, state_hash(&p->state), o->node),
				 true);
	plan_advance(p, 0, done, &b->x->state);
}

static int branch_follow(struct branch *b, struct open_state *o, struct err *err)
{
	struct explorer *x = b->x;
	uint64_t states = x->figures.states;
	size_t done, last;
	int status = explorer_follow(x, &b->plan, &done, err);

	if (status < 0)
		return status;
	last = done < b->plan.count ? done : done - 1;
	b->has_new_coverage = explorer_new_coverage(x, last);
	branch_settle(b, o, done);
	if (done < b->plan.count) {
		x->figures.edges_left += o->next - (b->places[done] + 1);
		o->next = b->places[done] + 1;
		b->at = NULL;
		status = explorer_mismatch(x, b->calls[done], done, err);
	} else if (b->leads_away || x->options->strategy == STRATEGY_REMOUNT) {
		b->at = NULL;
	}
	if (status >= 0 && x->figures.states > states)
		status = branch_open_found(b, o, b->calls[last], err);
	return status;
}

/* A plan's worth of calls in the open state that comes first. */
static int branch_expand(struct branch *b, struct open_state *o, struct err *err)
{
	struct explorer *x = b->x;
	uint32_t before = o->next;
	bool best = x->options->strategy == STRATEGY_BEST;
	int status = branch_go_to(b, o, err);

	if (status < 0)
		return status;
	/* A heap is not to change under an open state whose score does. */
	if (best)
		open_list_take(&b->x->list);
	branch_plan(b, o);
	x->figures.edges_left -= o->next - before;
	if (b->plan.count)
		status = branch_follow(b, o, err);
	if (best) {
		o->score *= decay;
		if (o->saved)
			saved_list_update(&b->saved, o);
		open_list_add(&b->x->list, o);
	}
	return status;
}

/* An open state that cannot be reached again, because the target may answer one way or another, is
 * given up; its calls stay among those that are left. */
static int branch_reach_first(struct branch *b, struct open_state *o, struct err *err)
{
	bool there;
	int status = branch_reach(b, o, &there, err);

	if (status >= 0 && !there && ++o->missed >= MISSES_MAX)
		branch_close_first(b);
	return status;
}

/* Continues in the open state that comes first. */
static int branch_continue(struct branch *b, struct open_state *o, struct err *err)
{
	if (o->next >= b->x->universe->calls) {
		branch_close_first(b);
		return 0;
	}
	return o->saved ? branch_expand(b, o, err) : branch_reach_first(b, o, err);
}

/* The first state, or those of a checkpoint. */
static int branch_begin(struct branch *b, struct err *err)
{
	struct explorer *x = b->x;

	if (x->opened)
		return 0;
	x->opened = true;
	if (x->options->resume) {
		branch_share_resume(b);
		return 0;
	}
	if (x->options->bitstate)
		bitstate_add(&x->bits, state_hash(&x->start));
	x->figures.edges_left = x->universe->calls;
	return branch_take(b, NULL, 0, err);
}

/* One step of the search; *ret_over: none is left. */
static int branch_step(struct branch *b, bool *ret_over, struct err *err)
{
	struct explorer *x = b->x;
	struct open_state *o = open_list_first(&x->list);
	int status;

	if (!o && x->share)
		return branch_share_wait(b, ret_over, err);
	*ret_over = !o;
	if (!o)
		return 0;
	status = branch_continue(b, o, err);
	if (status >= 0 && (status = oracle_look(x, err)) > 0)
		b->at = NULL;
	branch_share_give(b);
	return status;
}

int branch(struct explorer *x, struct err *err)
{
	struct branch *b = must_alloc(sizeof(*b));
	bool over = false;
	int status;

	b->x = x;
	plan_init(&b->plan, &x->predictor, &x->start);
	branch_saved_init(b);
	status = branch_begin(b, err);
	while (status >= 0 && !over && !explorer_ends(x))
		status = branch_step(b, &over, err);
	if (!x->figures.end && over)
		x->figures.end = x->figures.edges_left ? "depth" : "exhausted";
	x->figures.exhausted = over && !x->figures.edges_left && !x->options->bitstate;
	branch_saved_free(b);
	plan_free(&b->plan);
	free(b);
	return status < 0 ? status : 0;
}
