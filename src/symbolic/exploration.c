/* exploration.c -- what the conditions of one run tell, and which inputs they lead to.
 *
 * Decisions are turned where few were turned before at the same place of the checker; others wait
 * until the input is looked at again, at a higher level. So a loop over a symbolic count is not all
 * that is ever explored. */
#include "symbolic/exploration.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/must.h"
#include "base/stop.h"
#include "symbolic/expr_hashes.h"

/* That a walk asks, of a CPU. */
#define WALK_SECONDS 0.5

enum {
	QUESTIONS_MAX = 64, /* to the solver, of one walk */
	LEVELS = 4,
	/* So many impossible decisions in a row make us ask whether only one input is left. */
	IMPOSSIBLE_ROW = 4,
};

/* By level: how many decisions are turned at one place, and how hard the solver tries. */
static const uint64_t place_max[LEVELS] = { 32, 256, 2048, 16384 };
static const uint32_t solver_max[LEVELS] = { 400000, 2000000, 8000000, 8000000 };

struct log_walk {
	const struct path_log *log;
	const struct frontier_input *input;
	uint64_t *hashes, *values;
	struct solver_term *terms; /* what holds so far and is not implied by the others */
	size_t term_count;
	struct hash edge; /* the last that was taken */
	unsigned questions;
	double until_cpu;     /* it asks */
	unsigned row;         /* of impossible decisions */
	bool pinned;          /* no other input takes this path so far */
	bool hit;             /* it took the edge that it was made for */
	bool again, repeated; /* something waits: for another walk, for a higher level */
};

bool exploration_time_is_up(const struct exploration *x)
{
	return x->until > 0 && clock_seconds() >= x->until;
}

static double walk_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Whether a decision at this place may be turned now. */
static bool walk_may_ask(struct exploration *x, struct log_walk *w, uint64_t place)
{
	if (frontier_turned(&x->frontier, place) >= place_max[w->input->level]) {
		w->repeated = true;
		return false;
	}
	if (w->questions >= QUESTIONS_MAX || walk_cpu_seconds() >= w->until_cpu ||
	    exploration_time_is_up(x) || stop_requested) {
		w->again = true;
		return false;
	}
	return true;
}

/* Inputs for which all terms hold, and these others, which lie behind them. */
static enum edge_state walk_ask(struct exploration *x, struct log_walk *w, size_t others,
				uint8_t *ret_inputs)
{
	size_t count = w->term_count + others;

	w->questions++;
	switch (solver_ask(x->solver, w->terms, count, ret_inputs)) {
	case SOLVER_YES:
		return EDGE_TAKEN;
	case SOLVER_NO:
		return EDGE_IMPOSSIBLE;
	default:
		break;
	}
	if (solver_try_bytes(x->solver, w->terms, count, w->input->values, ret_inputs))
		return EDGE_TAKEN;
	if (w->input->level + 1 < LEVELS) {
		w->repeated = true;
		return EDGE_WAITING;
	}
	x->gaps[EXPLORATION_UNSOLVED]++;
	return EDGE_UNSOLVED;
}

/* Whether the prefix admits no other input: then nothing below can be turned. */
static void walk_check_pinned(struct exploration *x, struct log_walk *w)
{
	if (++w->row % IMPOSSIBLE_ROW || !w->term_count)
		return;
	w->questions++;
	w->pinned =
		solver_ask_other(x->solver, w->terms, w->term_count, w->input->values) == SOLVER_NO;
}

static void walk_take(struct exploration *x, struct log_walk *w, struct hash edge)
{
	path_tree_set(&x->tree, edge, EDGE_TAKEN);
	w->hit |= hash_equal(edge, w->input->edge);
	w->edge = edge;
}

static void walk_branch(struct exploration *x, struct log_walk *w, const struct path_condition *c)
{
	struct hash node = path_tree_node(w->edge, w->hashes[c->expr], c->kind),
		    turned = path_tree_edge(node, !c->value);
	enum edge_state state = path_tree_state(&x->tree, turned);
	uint64_t place = c->at << 1 | !c->value;
	uint8_t inputs[PATH_INPUTS_MAX];

	if (state == EDGE_WAITING && w->input->again)
		state = EDGE_NEW;
	if (state == EDGE_NEW && !w->pinned && !walk_may_ask(x, w, place)) {
		path_tree_set(&x->tree, turned, EDGE_WAITING);
	} else if (state == EDGE_NEW && !w->pinned) {
		w->terms[w->term_count] = (struct solver_term){ c->expr, false, c->value };
		state = walk_ask(x, w, 1, inputs);
		path_tree_set(&x->tree, turned, state);
		if (state == EDGE_TAKEN)
			frontier_add(&x->frontier, inputs, turned, place);
		if (state == EDGE_IMPOSSIBLE)
			walk_check_pinned(x, w);
		else
			w->row = 0;
	}
	walk_take(x, w, path_tree_edge(node, c->value));
	if (state != EDGE_IMPOSSIBLE)
		w->terms[w->term_count++] = (struct solver_term){ c->expr, true, c->value };
}

static uint64_t walk_value_of(const struct log_walk *w, uint32_t e, const uint8_t *inputs)
{
	uint64_t *values = must_alloc((e + 1) * sizeof(*values)), value;

	expr_evaluate(w->log->exprs, e + 1, inputs, values);
	value = values[e];
	free(values);
	return value;
}

/* Asks for one more value of an expression that has many; false: there is none now. */
static bool walk_ask_value(struct exploration *x, struct log_walk *w,
			   const struct path_condition *c, struct hash node,
			   struct path_values *known)
{
	uint8_t inputs[PATH_INPUTS_MAX];
	enum edge_state state;
	uint64_t value;

	for (uint32_t i = 0; i < known->count; i++)
		w->terms[w->term_count + i] =
			(struct solver_term){ c->expr, false, known->values[i] };
	state = walk_ask(x, w, known->count, inputs);
	if (state != EDGE_TAKEN) {
		known->all = state != EDGE_WAITING;
		return false;
	}
	value = walk_value_of(w, c->expr, inputs);
	path_values_add(known, value);
	if (known->count == PATH_VALUES_MAX) {
		known->all = true;
		x->gaps[EXPLORATION_REPEATED]++;
	}
	frontier_add(&x->frontier, inputs, path_tree_edge(node, value), c->at << 1);
	return true;
}

static void walk_values(struct exploration *x, struct log_walk *w, const struct path_condition *c)
{
	struct hash node = path_tree_node(w->edge, w->hashes[c->expr], c->kind);
	struct path_values *known = path_tree_values(&x->tree, node);

	path_values_add(known, c->value);
	if (!w->pinned && (!known->waiting || w->input->again)) {
		while (!known->all && walk_may_ask(x, w, c->at << 1) &&
		       walk_ask_value(x, w, c, node, known))
			;
		known->waiting = !known->all;
	}
	walk_take(x, w, path_tree_edge(node, c->value));
	if (!known->all || known->count > 1)
		w->terms[w->term_count++] = (struct solver_term){ c->expr, true, c->value };
}

/* Every condition must have had the value that its expression has for these inputs. */
static void walk_check(struct exploration *x, const struct log_walk *w)
{
	for (uint32_t i = 0; i < w->log->condition_count; i++) {
		const struct path_condition *c = &w->log->conditions[i];

		if (w->values[c->expr] != c->value)
			x->gaps[EXPLORATION_WRONG]++;
	}
}

/* What waits is tried when the input is looked at again. */
static void walk_end(struct exploration *x, const struct log_walk *w)
{
	unsigned level = w->input->level + !w->again;

	if (!w->again && !w->repeated)
		return;
	if (level == LEVELS)
		x->gaps[EXPLORATION_REPEATED]++;
	else
		frontier_again(&x->frontier, w->input, level, place_max[w->input->level]);
}

struct hash exploration_walk(struct exploration *x, const struct path_log *log,
			     const struct frontier_input *input)
{
	struct log_walk w = {
		.log = log,
		.input = input,
		.hashes = must_alloc((log->expr_count + 1) * sizeof(uint64_t)),
		.values = must_alloc((log->expr_count + 1) * sizeof(uint64_t)),
		.terms = must_alloc((log->condition_count + PATH_VALUES_MAX + 1) *
				    sizeof(struct solver_term)),
		.hit = hash_equal(input->edge, (struct hash){ 0, 0 }),
		.until_cpu = walk_cpu_seconds() + WALK_SECONDS,
	};

	expr_hashes(log->exprs, log->expr_count, w.hashes);
	expr_evaluate(log->exprs, log->expr_count, input->values, w.values);
	walk_check(x, &w);
	solver_use(x->solver, log->exprs, log->expr_count, w.hashes);
	solver_limit(x->solver, solver_max[input->level]);
	for (uint32_t i = 0; i < log->condition_count; i++) {
		if (log->conditions[i].kind == CONDITION_BRANCH)
			walk_branch(x, &w, &log->conditions[i]);
		else
			walk_values(x, &w, &log->conditions[i]);
	}
	x->gaps[EXPLORATION_DIVERGED] += !w.hit;
	walk_end(x, &w);
	free(w.hashes);
	free(w.values);
	free(w.terms);
	return w.edge;
}
