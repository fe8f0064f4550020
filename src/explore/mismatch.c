/* mismatch.c -- a call that did not go as the model predicted: allowed, or a finding. */
#include "explore/differential.h"
#include "explore/explorer.h"
#include "judge/step_over.h"

/* Of so many calls that made a file and ran out of space, the search starts again after one: on a
 * disk that was full once, less is judged. */
enum { FULL_CALLS = 16 };

int mismatch_judge(const struct plan_follower *f, struct state *s, const struct call *c,
		   struct finding *ret, struct err *err)
{
	buf_adds(&ret->target, f->target->name);
	return judge_report(f->target, &f->model, s, c, &f->end, true, &ret->discrepancy, err);
}

/* A branching search has no use for edges: it knows by which call it came to a state. */
static void mismatch_set_edge(struct explorer *x, uint32_t call, uint32_t to)
{
	if (!strategy_branches(x->options->strategy))
		graph_set_edge(&x->graph, x->node, call, to);
}

/* The search continues from where the call led, which the model did not predict. */
static void mismatch_accept(struct explorer *x, uint32_t number, const struct call *c,
			    const struct outcome *seen, struct state *s)
{
	uint32_t to = explorer_visit(x, s, state_hash(s), x->node);

	mismatch_set_edge(x, number, to);
	explorer_advance(x, number, c, seen, to, true);
	history_add_turn(&x->history, s);
	state_free(&x->state);
	x->state = *s;
}

/* *ret says whether the search continues from *s. */
static int mismatch_step_over(struct explorer *x, const struct finding *f, struct state *s,
			      bool *ret, struct err *err)
{
	int status = judge_step_over(x->followers[0].target, &f->discrepancy, s, err);

	*ret = status > 0;
	return status < 0 ? status : 0;
}

/* A discrepancy: a finding, or one that is known and stepped over. */
static int mismatch_capture(struct explorer *x, uint32_t number, const struct finding *f,
			    struct state *s, bool *ret, struct err *err)
{
	const struct plan_follower *on = &x->followers[0];

	*ret = false;
	if (capture(x, on, number, f) || !fate_answers(on->end.fate))
		return 0;
	return mismatch_step_over(x, f, s, ret, err);
}

/* The mismatch of a target that is alone. *ret says whether the search continues behind it. */
static int mismatch_resolve(struct explorer *x, uint32_t number, bool *ret, struct err *err)
{
	struct state s = state_copy(&x->state);
	struct arena arena = ARENA_INIT;
	struct finding f;
	struct call c;
	int status;

	explorer_call(x, number, &arena, &c);
	finding_init(&f);
	status = mismatch_judge(&x->followers[0], &s, &c, &f, err);
	*ret = status == VERDICT_OK;
	x->figures.surprises += *ret;
	if (status == VERDICT_BAD)
		status = mismatch_capture(x, number, &f, &s, ret, err);
	else if (status == VERDICT_UNKNOWN && f.discrepancy.is_only_made &&
		 !rng_chance(&x->rng, 1, FULL_CALLS))
		status = mismatch_step_over(x, &f, &s, ret, err);
	if (*ret) {
		mismatch_accept(x, number, &c, &x->followers[0].end.outcome, &s);
	} else {
		state_free(&s);
		x->figures.calls++;
	}
	finding_free(&f);
	arena_free(&arena);
	return status < 0 ? status : 0;
}

int explorer_mismatch(struct explorer *x, uint32_t call, size_t step, struct err *err)
{
	bool accepted = false;
	int status = 0;

	if (x->follower_count > 1)
		status = differential_judge(x, call, step, err);
	else if (x->followers[0].end.refused) /* for what is there already: without that it may */
		x->figures.beyond++;
	else
		status = mismatch_resolve(x, call, &accepted, err);
	if (status < 0 || accepted)
		return status;
	/* It would show the same again. */
	mismatch_set_edge(x, call, NODE_BEYOND);
	return explorer_reset(x, err);
}
