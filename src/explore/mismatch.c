/* mismatch.c -- a call that did not go as the model predicted: allowed, or a finding. */
#include "explore/differential.h"
#include "explore/explorer.h"

int mismatch_judge(const struct plan_follower *f, struct state *s, const struct call *c,
		   struct finding *ret, struct err *err)
{
	buf_adds(&ret->target, f->target->name);
	if (f->end.fate != FATE_FINE)
		return judge_fate(f->target, &f->model, s, c, f->end.fate, &ret->discrepancy, err);
	return judge_answer(f->target, &f->model, s, c, &f->end.outcome, true, &ret->discrepancy,
			    err);
}

/* A branching search has no use for edges: it knows by which call it came to a state. */
static void mismatch_set_edge(struct explorer *x, uint32_t call, uint32_t to)
{
	if (!strategy_branches(x->options->strategy))
		graph_set_edge(&x->graph, x->node, call, to);
}

/* The call was allowed: the search continues from where it led. */
static void mismatch_accept(struct explorer *x, uint32_t call, const struct outcome *seen,
			    struct state *s)
{
	uint32_t to = explorer_node(x, s);

	mismatch_set_edge(x, call, to);
	explorer_advance(x, call, seen, to, true);
	x->figures.surprises++;
	state_free(&x->state);
	x->state = *s;
}

/* The mismatch of a target that is alone. *ret says whether the call was allowed. */
static int mismatch_resolve(struct explorer *x, uint32_t call, bool *ret, struct err *err)
{
	struct state s = state_copy(&x->state);
	struct finding f;
	struct call c;
	int status;

	universe_call(x->universe, call, &c);
	finding_init(&f);
	status = mismatch_judge(&x->followers[0], &s, &c, &f, err);
	*ret = status == VERDICT_OK;
	if (*ret) {
		mismatch_accept(x, call, &f.discrepancy.answer, &s);
	} else {
		state_free(&s);
		x->figures.calls++;
		if (status == VERDICT_BAD)
			capture(x, &x->followers[0], call, &f);
	}
	finding_free(&f);
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
