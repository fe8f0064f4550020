/* branch_reach.c -- states that are not saved any more, or come from a checkpoint: reached again by
 * the calls that led to them.
 *
 * That these go as they did is verified like everything else. */
#include "explore/branch.h"
#include "plan/nearby.h"

void branch_recall(struct branch *b, const struct open_state *o)
{
	struct explorer *x = b->x;

	history_cut(&x->history, 0);
	x->history.count = call_path_depth(o->path);
	recent_forget(&x->recent);
	for (const struct call_path *w = o->path; w; w = w->from)
		x->history.calls[w->depth - 1] = (struct history_call){ w->call, w->node };
}

/* Plans the next calls of the history, from place `from` on. False if the model does not predict
 * them as it did once. */
static bool reach_plan(struct branch *b, size_t from)
{
	struct explorer *x = b->x;
	struct plan *p = &b->plan;
	struct call call;

	plan_begin_behind(p);
	while (p->count < BRANCH_PLAN_MAX && from + p->count < x->history.count) {
		uint32_t number = x->history.calls[from + p->count].call;

		if (!nearby_call(x->universe, number, &p->state, &p->arena, &call) ||
		    !plan_add(p, &call, true))
			return false;
	}
	return true;
}

/* Call number `at` of the history, step number `step` of the plan, did not go as it did once. It is
 * judged; a state that it leads to is none that was sought. */
static int reach_mismatch(struct branch *b, size_t at, size_t step, struct err *err)
{
	struct explorer *x = b->x;
	struct explore_figures before = x->figures;
	int status;

	history_cut(&x->history, at);
	x->node = at ? x->history.calls[at - 1].to : x->root;
	b->at = NULL;
	status = explorer_mismatch(x, x->history.calls[at].call, step, err);
	x->figures.transitions = before.transitions;
	x->figures.edges_left += (x->figures.states - before.states) * x->universe->calls;
	return status;
}

/* Makes the calls of the history from the start. *ret says whether all went as planned. */
static int reach_follow(struct branch *b, bool *ret, struct err *err)
{
	struct explorer *x = b->x;
	size_t followed, count = x->history.count;
	int status;

	plan_begin(&b->plan, &x->start);
	for (size_t done = 0; done < count; done += b->plan.count) {
		*ret = reach_plan(b, done);
		if (!*ret)
			return 0;
		status = explorer_follow(x, &b->plan, &followed, err);
		if (status < 0)
			return status;
		x->figures.calls += followed;
		plan_advance(&b->plan, 0, followed, &x->state);
		*ret = followed == b->plan.count;
		if (!*ret)
			return reach_mismatch(b, done + followed, followed, err);
	}
	*ret = true;
	return 0;
}

int branch_reach(struct branch *b, struct open_state *o, bool *ret, struct err *err)
{
	struct explorer *x = b->x;
	int status = branch_go_to_start(b, err);

	b->at = NULL;
	if (status < 0)
		return status;
	branch_recall(b, o);
	status = reach_follow(b, ret, err);
	if (status < 0 || !*ret)
		return status;
	*ret = hash_equal(state_hash(&x->state), o->hash);
	if (!*ret)
		return 0;
	x->node = o->node;
	b->at = o;
	return branch_save(b, o, err);
}
