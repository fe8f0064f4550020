/* choose.c -- drawing calls by weight, toward outcomes that are rare, and toward new states.
 *
 * Most calls of a rich universe fail, or lead nowhere. The model foresees that in 1 to 3 us, and a
 * call of a kernel takes 15 to 100 times as long: there several draws are thought of for each call
 * that is made, and mostly one is made that leads on. The other calls stay as they are drawn, since
 * errors matter, too. */
#include "explore/choose.h"

#include <math.h>

#include "plan/nearby.h"

enum {
	DRAWS = 8,            /* before looking for an untried call in order */
	LEAVING_DRAWS = 64,   /* for a call that leads to another state */
	LEADING_DRAWS = 16,   /* for one that leads to a state that is not known */
	LEADING_DRAWS_OP = 4, /* of these, draws of one operation */
	LEADING_PART = 5,     /* of LEADING_OF calls */
	LEADING_OF = 8,
	DEAR_OBJECTS = 64,     /* of a tree that is read again half as often as an empty one */
	EARLY = 1 << 13,       /* calls */
	PAUSE_MIN = 256,       /* calls from one move of weights to the next */
	PAUSE_COVERAGE = 2048, /* at most, where new coverage guides the choice */
};

/* What cannot be made at all is drawn where nothing else is. */
static uint32_t choose_draw_as_weighed(struct explorer *x, const struct state *s)
{
	uint64_t call;

	if (!nearby_draw(x->universe, s, &x->names, &x->rng, &call))
		call = universe_draw(x->universe, &x->rng);
	return (uint32_t)call;
}

/* What reads all of the tree again is drawn the more seldom the larger the tree is. */
static bool choose_spares(struct explorer *x, const struct state *s, uint32_t call)
{
	enum op op = x->universe->ops[universe_op_of(x->universe, call)].op;

	return explorer_is_dear(x, op) &&
	       !rng_chance(&x->rng, DEAR_OBJECTS, DEAR_OBJECTS + s->tree.inodes.count);
}

static uint32_t choose_draw(struct explorer *x, const struct state *s)
{
	uint32_t call = choose_draw_as_weighed(x, s);

	for (unsigned i = 1; i < DRAWS && choose_spares(x, s, call); i++)
		call = choose_draw_as_weighed(x, s);
	return call;
}

static uint32_t choose_draw_of(struct explorer *x, const struct state *s, size_t op)
{
	uint64_t call;

	if (!nearby_draw_of(x->universe, op, s, &x->names, &x->rng, &call))
		call = universe_draw_of(x->universe, op, &x->rng);
	return (uint32_t)call;
}

static bool choose_is_untried(const struct explorer *x, uint32_t node, uint32_t call)
{
	return graph_edge(&x->graph, node, call) == NODE_NONE;
}

static uint32_t choose_draw_untried(struct explorer *x, const struct state *s, uint32_t node)
{
	uint32_t calls = (uint32_t)x->universe->calls, call, start;

	for (int i = 0; i < DRAWS; i++) {
		call = choose_draw(x, s);
		if (choose_is_untried(x, node, call))
			return call;
	}
	start = (uint32_t)rng_below(&x->rng, calls);
	for (uint32_t i = 0; i < calls; i++) {
		call = start + i < calls ? start + i : start + i - calls;
		if (choose_is_untried(x, node, call))
			return call;
	}
	return NODE_NONE;
}

/* What a call would answer, as the model says, and where it succeeds the state that it would lead
 * to, if that is asked for. False if it would not be made. */
static bool choose_foresee(struct explorer *x, const struct plan *p, uint32_t number,
			   int *ret_error, struct hash *ret_after)
{
	const struct state *s = &p->state;
	struct outcome outcome;
	struct state after;
	struct call call;

	arena_reset(&x->scratch);
	if (!nearby_call(x->universe, number, s, &x->scratch, &call) ||
	    !predict_after(&x->predictor, s, &call, &outcome, NULL, &after))
		return false;
	*ret_error = outcome.error;
	if (ret_after && !outcome.error)
		*ret_after = state_hash_after(s, p->hash, &after);
	state_free(&after);
	return true;
}

/* How well known is what the call would show? */
static double choose_familiarity(struct explorer *x, const struct plan *p, uint32_t number)
{
	int error;

	if (!choose_foresee(x, p, number, &error, NULL))
		return INFINITY;
	return tally_familiarity(&x->tally, number, error);
}

/* Of so many draws, the call whose outcome was seen least. */
static uint32_t choose_draw_rare(struct explorer *x, const struct plan *p, uint32_t node,
				 unsigned draws)
{
	uint32_t best = choose_draw_untried(x, &p->state, node), call;
	double least = choose_familiarity(x, p, best), seen;

	for (unsigned i = 1; i < draws && least > 0; i++) {
		call = choose_draw_untried(x, &p->state, node);
		seen = choose_familiarity(x, p, call);
		if (seen < least) {
			least = seen;
			best = call;
		}
	}
	return best;
}

/* What making a call would bring. */
enum worth {
	WORTH_NOTHING, /* it is not made, was tried here, or fails as others have */
	WORTH_SUCCESS,
	WORTH_LEAVING, /* it leads to another state that is known */
	WORTH_OUTCOME, /* an errno that the operation was not seen to return */
	WORTH_STATE,   /* it leads to a state that is not known */
};

static enum worth choose_worth(struct explorer *x, const struct plan *p, uint32_t node,
			       uint32_t call)
{
	struct hash after;
	int error;

	if (!choose_is_untried(x, node, call) || !choose_foresee(x, p, call, &error, &after))
		return WORTH_NOTHING;
	if (error)
		return tally_familiarity(&x->tally, call, error) > 0 ? WORTH_NOTHING
								     : WORTH_OUTCOME;
	if (!graph_has(&x->graph, after))
		return WORTH_STATE;
	return hash_equal(after, p->hash) ? WORTH_SUCCESS : WORTH_LEAVING;
}

/* The best that calls of an operation bring: looking, syncing and the like lead nowhere. */
static enum worth choose_worth_max(const struct explorer *x, size_t op)
{
	const unsigned changing = TRAIT_NAMES | TRAIT_DATA | TRAIT_ATTR | TRAIT_OPENS;

	return op_table[x->universe->ops[op].op].traits & changing ? WORTH_STATE : WORTH_SUCCESS;
}

/* Of some calls, the first of which is given, the one that leads on. An operation has several
 * draws, so that those that seldom succeed keep about their share. */
static uint32_t choose_draw_leading_on(struct explorer *x, const struct plan *p, uint32_t node,
				       uint32_t first)
{
	const struct universe *u = x->universe;
	const struct state *s = &p->state;
	uint32_t best = first, call = first;
	enum worth most = WORTH_NOTHING, worth;
	size_t op = universe_op_of(u, first);

	for (unsigned i = 1;; i++) {
		worth = choose_worth(x, p, node, call);
		if (worth > most) {
			most = worth;
			best = call;
		}
		if (i == LEADING_DRAWS || most >= choose_worth_max(x, op))
			return best;
		if (i % LEADING_DRAWS_OP) {
			call = choose_draw_of(x, s, op);
		} else {
			call = choose_draw(x, s);
			op = universe_op_of(u, call);
		}
	}
}

/* Where the model answers, thinking of a call costs as much as making it. */
static bool choose_calls_are_dear(const struct explorer *x)
{
	return !x->target->kind->in_process;
}

static bool choose_is_to_lead_on(struct explorer *x)
{
	return x->options->adaptive && choose_calls_are_dear(x) &&
	       rng_chance(&x->rng, LEADING_PART, LEADING_OF);
}

/* How many draws to choose from. At first most is new; and where calls are dear, or rare outcomes
 * were asked for, the model may think longer about each. */
static unsigned choose_draws(struct explorer *x)
{
	bool often = x->chosen < EARLY || x->options->before || choose_calls_are_dear(x);

	if (!x->options->adaptive || !rng_chance(&x->rng, 1, often ? 2 : 32))
		return 1;
	return often ? 16 : 4;
}

/* Weights move often at first, then more and more seldom; it costs a look at every call. */
static void choose_adapt(struct explorer *x)
{
	uint64_t pause = x->chosen / 2;

	if (!x->options->adaptive || x->chosen++ < x->adapt_at)
		return;
	if (x->reached && x->options->code_score && pause > PAUSE_COVERAGE)
		pause = PAUSE_COVERAGE;
	x->adapt_at = x->chosen + (pause > PAUSE_MIN ? pause : PAUSE_MIN);
	tally_adapt(&x->tally);
}

uint32_t choose_untried(struct explorer *x, const struct plan *p, uint32_t node)
{
	const struct state *s = &p->state;
	unsigned draws;

	if (!graph_untried(&x->graph, node))
		return NODE_NONE;
	choose_adapt(x);
	if (choose_is_to_lead_on(x))
		return choose_draw_leading_on(x, p, node, choose_draw_untried(x, s, node));
	draws = choose_draws(x);
	return draws > 1 ? choose_draw_rare(x, p, node, draws) : choose_draw_untried(x, s, node);
}

uint32_t choose_leaving(struct explorer *x, const struct plan *p)
{
	struct hash after;
	uint32_t number;
	int error;

	for (unsigned i = 0; i < LEAVING_DRAWS; i++) {
		number = choose_draw(x, &p->state);
		if (choose_foresee(x, p, number, &error, &after) && !error &&
		    !hash_equal(after, p->hash))
			return number;
	}
	return NODE_NONE;
}

uint32_t choose_any(struct explorer *x, const struct plan *p, uint32_t node)
{
	const struct state *s = &p->state;

	choose_adapt(x);
	if (choose_is_to_lead_on(x))
		return choose_draw_leading_on(x, p, node, choose_draw(x, s));
	return choose_draw(x, s);
}
