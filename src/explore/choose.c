/* choose.c -- drawing calls by weight, and toward outcomes that are rare. */
#include "explore/choose.h"

#include <math.h>

enum {
	DRAWS = 8,             /* before looking for an untried call in order */
	RARE_DRAWS = 4,        /* to choose a rare outcome from */
	ADAPT_EVERY = 1 << 16, /* calls, at least */
};

static uint32_t draw(struct explorer *x)
{
	return (uint32_t)universe_draw(x->universe, &x->rng);
}

static bool is_untried(const struct explorer *x, uint32_t node, uint32_t call)
{
	return graph_edge(&x->graph, node, call) == NODE_NONE;
}

static uint32_t draw_untried(struct explorer *x, uint32_t node)
{
	uint32_t calls = (uint32_t)x->universe->calls, call, start;

	for (int i = 0; i < DRAWS; i++) {
		call = draw(x);
		if (is_untried(x, node, call))
			return call;
	}
	start = (uint32_t)rng_below(&x->rng, calls);
	for (uint32_t i = 0; i < calls; i++) {
		call = start + i < calls ? start + i : start + i - calls;
		if (is_untried(x, node, call))
			return call;
	}
	return NODE_NONE;
}

/* How often the outcome that the call would have was seen, for its operation's weight: one that
 * is to be rare stays so. */
static double familiarity(struct explorer *x, const struct state *s, uint32_t number)
{
	size_t op = universe_op_of(x->universe, number);
	struct state after = state_copy(s);
	struct outcome outcome;
	struct call call;
	double seen = INFINITY;

	universe_call(x->universe, number, &call);
	if (lead(x, &after, &call, &outcome) && outcome.error < COVER_ERRNOS)
		seen = (double)tally_seen(&x->tally, op, outcome.error) /
		       x->universe->ops[op].weight;
	state_free(&after);
	return seen;
}

static uint32_t draw_rare(struct explorer *x, const struct state *s, uint32_t node)
{
	uint32_t best = draw_untried(x, node), call;
	double least = familiarity(x, s, best), seen;

	for (int i = 1; i < RARE_DRAWS && least > 0; i++) {
		call = draw_untried(x, node);
		seen = familiarity(x, s, call);
		if (seen < least) {
			least = seen;
			best = call;
		}
	}
	return best;
}

/* Where calls are dear, or rare outcomes were asked for, the model may think longer about each. */
static bool looks_ahead(struct explorer *x)
{
	bool cheap = x->target->caps & TARGET_SAVE && !x->options->before;

	return x->options->adaptive && rng_chance(&x->rng, 1, cheap ? 32 : 2);
}

static void adapt(struct explorer *x)
{
	uint64_t every = x->universe->calls > ADAPT_EVERY ? x->universe->calls : ADAPT_EVERY;

	if (!x->options->adaptive || x->chosen++ % every != every - 1)
		return;
	tally_adapt(&x->tally);
}

uint32_t choose_untried(struct explorer *x, const struct state *s, uint32_t node)
{
	if (!graph_untried(&x->graph, node))
		return NODE_NONE;
	adapt(x);
	return looks_ahead(x) ? draw_rare(x, s, node) : draw_untried(x, node);
}

uint32_t choose_any(struct explorer *x)
{
	adapt(x);
	return draw(x);
}
