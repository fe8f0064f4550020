/* surprise.c -- a call that did not go as the model predicted: allowed, or a finding. */
#include "explore/explorer.h"

void plan_end_of_probe(struct plan_end *end, const struct outcome *expected)
{
	end->outcome = *expected;
	end->outcome_differs = false;
	end->tree_differs = true;
}

int judge_surprise(struct target *t, const struct model *m, struct state *s, const struct call *c,
		   const struct plan_end *end, struct finding *ret, struct err *err)
{
	buf_adds(&ret->target, t->name);
	if (end->fate != FATE_FINE) {
		judge_fate(t, c, end->fate, ret);
		return JUDGE_BAD;
	}
	return judge_answer(t, m, s, c, &end->outcome, true, ret, err);
}

/* A branching search has no use for edges: it knows by what call it came to a state. */
static void remember(struct explorer *x, uint32_t call, uint32_t to)
{
	if (!strategy_branches(x->options->strategy))
		graph_set_edge(&x->graph, x->node, call, to);
}

static int go_on(struct explorer *x, uint32_t call, int error, struct state *s)
{
	uint32_t to = explorer_node(x, s);

	remember(x, call, to);
	explorer_pass(x, call, error, to, true);
	x->figures.surprises++;
	state_free(&x->state);
	x->state = *s;
	return 0;
}

int surprise(struct explorer *x, uint32_t call, const struct plan_end *end, struct err *err)
{
	struct state s = state_copy(&x->state);
	struct finding f;
	struct call c;
	int status, error = end->outcome.error;

	universe_call(x->universe, call, &c);
	finding_init(&f);
	status = judge_surprise(x->target, &x->model, &s, &c, end, &f, err);
	if (status == JUDGE_FINE) {
		finding_free(&f);
		return go_on(x, call, error, &s);
	}
	state_free(&s);
	x->figures.calls++;
	if (status == JUDGE_BAD)
		status = capture(x, call, &f, err);
	finding_free(&f);
	if (status < 0)
		return status;
	/* It would show the same again. */
	remember(x, call, NODE_BEYOND);
	return explorer_reset(x, err);
}
