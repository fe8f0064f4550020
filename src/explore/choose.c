/* choose.c -- drawing calls by weight, and toward outcomes that are rare. */
#include "explore/choose.h"

#include <math.h>

#include "plan/nearby.h"

enum {
	DRAWS = 8,             /* before looking for an untried call in order */
	LEAVING_DRAWS = 64,    /* for a call that leads to another state */
	EARLY = 1 << 13,       /* calls */
	PAUSE_MIN = 256,       /* calls from one move of weights to the next */
	PAUSE_COVERAGE = 2048, /* at most, where new coverage guides the choice */
};

static uint32_t choose_draw(struct explorer *x)
{
	return (uint32_t)universe_draw(x->universe, &x->rng);
}

static bool choose_is_untried(const struct explorer *x, uint32_t node, uint32_t call)
{
	return graph_edge(&x->graph, node, call) == NODE_NONE;
}

static uint32_t choose_draw_untried(struct explorer *x, uint32_t node)
{
	uint32_t calls = (uint32_t)x->universe->calls, call, start;

	for (int i = 0; i < DRAWS; i++) {
		call = choose_draw(x);
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

/* How well known is what the call would show? */
static double choose_familiarity(struct explorer *x, const struct state *s, uint32_t number)
{
	struct outcome outcome;
	struct state after;
	struct call call;

	arena_reset(&x->scratch);
	if (!nearby_call(x->universe, number, s, &x->scratch, &call) ||
	    !predict_after(&x->predictor, s, &call, &outcome, NULL, &after))
		return INFINITY;
	state_free(&after);
	return tally_familiarity(&x->tally, number, outcome.error);
}

/* Of so many draws, the call whose outcome was seen least. */
static uint32_t choose_draw_rare(struct explorer *x, const struct state *s, uint32_t node,
				 unsigned draws)
{
	uint32_t best = choose_draw_untried(x, node), call;
	double least = choose_familiarity(x, s, best), seen;

	for (unsigned i = 1; i < draws && least > 0; i++) {
		call = choose_draw_untried(x, node);
		seen = choose_familiarity(x, s, call);
		if (seen < least) {
			least = seen;
			best = call;
		}
	}
	return best;
}

/* How many draws to choose from. At first most is new; and where calls are dear, or rare outcomes
 * were asked for, the model may think longer about each. */
static unsigned choose_draws(struct explorer *x)
{
	bool often = x->chosen < EARLY || x->options->before || !(x->target->caps & TARGET_SAVE);

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

uint32_t choose_untried(struct explorer *x, const struct state *s, uint32_t node)
{
	unsigned draws;

	if (!graph_untried(&x->graph, node))
		return NODE_NONE;
	choose_adapt(x);
	draws = choose_draws(x);
	return draws > 1 ? choose_draw_rare(x, s, node, draws) : choose_draw_untried(x, node);
}

uint32_t choose_leaving(struct explorer *x, const struct state *s)
{
	struct hash here = state_hash(s);
	struct outcome outcome;
	struct state after;
	struct call call;
	bool leaves = false;
	uint32_t number = NODE_NONE;

	for (unsigned i = 0; i < LEAVING_DRAWS && !leaves; i++) {
		number = choose_draw(x);
		arena_reset(&x->scratch);
		if (!nearby_call(x->universe, number, s, &x->scratch, &call) ||
		    !predict_after(&x->predictor, s, &call, &outcome, NULL, &after))
			continue;
		leaves = !outcome.error && !hash_equal(state_hash(&after), here);
		state_free(&after);
	}
	return leaves ? number : NODE_NONE;
}

uint32_t choose_any(struct explorer *x)
{
	choose_adapt(x);
	return choose_draw(x);
}
