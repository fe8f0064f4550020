/* branch_reach.c -- states that are not saved any more, or come from a checkpoint: reached again by
 * the calls that led to them.
 *
 * That these go as they did is verified like everything else. */
#include "explore/branch.h"

void branch_recall(struct branch *b, const struct opening *o)
{
	struct explorer *x = b->x;

	x->history_count = way_depth(o->way);
	recent_forget(&x->recent);
	for (const struct way *w = o->way; w; w = w->from)
		x->history[w->depth - 1] = (struct passed){ w->call, w->node };
}

/* Plans the next calls of the history, from place `from` on. False if the model does not go
 * along, as it did once. */
static bool reach_plan(struct branch *b, size_t from)
{
	struct explorer *x = b->x;
	struct outcome expected;
	struct call call;
	uint32_t number;

	arena_reset(&b->arena);
	for (b->count = 0; b->count < BRANCH_PLAN_MAX && from + b->count < x->history_count;) {
		number = x->history[from + b->count].call;
		universe_call(x->universe, number, &call);
		if (!lead(x, &b->after, &call, &expected))
			return false;
		branch_add_step(b, number, &call, &expected);
	}
	return true;
}

/* The step after `done` of a plan that begins at place `from` of the history went another way than
 * once. It is judged; a state that it leads to is none that was sought. */
static int reach_surprised(struct branch *b, size_t from, size_t done, const struct plan_end *end,
			   struct err *err)
{
	struct explorer *x = b->x;
	struct explore_figures before = x->figures;
	struct outcome outcome;
	int status;

	for (size_t i = 0; i < done; i++)
		model_run(&x->model, &x->state, &b->steps[i].call, &outcome);
	x->history_count = from + done;
	x->node = x->history_count ? x->history[x->history_count - 1].to : x->root;
	status = branch_be_surprised(b, b->calls[done], end, err);
	x->figures.transitions = before.transitions;
	x->figures.edges_left += (x->figures.states - before.states) * x->universe->calls;
	return status;
}

/* Makes the calls of the history from the start. *ret says whether all went as planned. */
static int reach_follow(struct branch *b, bool *ret, struct err *err)
{
	struct explorer *x = b->x;
	struct plan_end end;
	size_t followed, count = x->history_count;
	int status;

	state_free(&b->after);
	b->after = state_copy(&x->start);
	for (size_t done = 0; done < count; done += b->count) {
		*ret = reach_plan(b, done);
		if (!*ret)
			return 0;
		status = branch_follow_plan(b, &end, &followed, err);
		if (status < 0)
			return status;
		x->figures.calls += followed;
		*ret = followed == b->count;
		if (!*ret)
			return reach_surprised(b, done, followed, &end, err);
		state_free(&x->state);
		x->state = state_copy(&b->after);
	}
	*ret = true;
	return 0;
}

int branch_reach(struct branch *b, struct opening *o, bool *ret, struct err *err)
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
