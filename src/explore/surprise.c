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
	if (end->fate != FATE_FINE)
		return judge_fate(t, m, s, c, end->fate, ret, err);
	return judge_answer(t, m, s, c, &end->outcome, true, ret, err);
}

/* A branching search has no use for edges: it knows by what call it came to a state. */
static void remember(struct explorer *x, uint32_t call, uint32_t to)
{
	if (!strategy_branches(x->options->strategy))
		graph_set_edge(&x->graph, x->node, call, to);
}

static void go_on(struct explorer *x, uint32_t call, const struct outcome *seen, struct state *s)
{
	uint32_t to = explorer_node(x, s);

	remember(x, call, to);
	explorer_pass(x, call, seen, to, true);
	x->figures.surprises++;
	state_free(&x->state);
	x->state = *s;
}

/* The target did not make the call, for what is there already: without that it may. */
static int leave_out(struct explorer *x, uint32_t call, struct err *err)
{
	x->figures.beyond++;
	remember(x, call, NODE_BEYOND);
	return explorer_reset(x, err);
}

int surprise(struct explorer *x, uint32_t call, const struct plan_end *end, struct err *err)
{
	struct state s;
	struct finding f;
	struct call c;
	int status;

	if (end->refused)
		return leave_out(x, call, err);
	s = state_copy(&x->state);
	universe_call(x->universe, call, &c);
	finding_init(&f);
	status = judge_surprise(x->target, &x->model, &s, &c, end, &f, err);
	if (status == JUDGE_FINE) {
		go_on(x, call, &f.answer, &s);
		finding_free(&f);
		return 0;
	}
	state_free(&s);
	x->figures.calls++;
	if (status == JUDGE_BAD)
		capture(x, call, &f);
	finding_free(&f);
	if (status < 0)
		return status;
	/* It would show the same again. */
	remember(x, call, NODE_BEYOND);
	return explorer_reset(x, err);
}
