/* call_history.h -- the calls since the file system was fresh, and where they led.
 *
 * A call is its number in the universe, and 8 bytes. What the call was in full follows from the
 * state before it (plan/nearby.h), and that from the calls before. So the history also has the
 * states that the model does not predict: behind a call that went another way, but an allowed one,
 * and behind a known discrepancy. */
#ifndef EXPLORE_CALL_HISTORY_H
#define EXPLORE_CALL_HISTORY_H

#include "plan/predict.h"

/* Beyond, the target is reset: a trace must stay short enough to be replayed. A plan that begins
 * before that may end behind it. */
enum { HISTORY_MAX = 1 << 20, HISTORY_SLACK = 256, HISTORY_TURNS_MAX = 1 << 16 };

/* Numbers of calls have 32 bits, and so have counts of a node's edges. Beyond those of a universe
 * are calls without arguments that a search makes by its own choice. */
enum { UNIVERSE_CALLS_MAX = 1 << 30 };
static inline uint32_t history_own_call(enum op op)
{
	return UNIVERSE_CALLS_MAX + (uint32_t)op;
}

struct history_call {
	uint32_t call, to; /* the node it led to */
};

struct call_history {
	struct history_call *calls;
	size_t count;
	struct history_turn {
		size_t at;          /* the call that went another way */
		struct state after; /* where it led */
	} * turns;
	size_t turn_count, turn_cap;
};

/* A call by its number, as it is made in this state; false if the state has no values for it. */
bool history_call(const struct universe *u, uint32_t number, const struct state *s,
		  struct arena *arena, struct call *ret);

void history_init(struct call_history *h);
void history_copy(struct call_history *to, const struct call_history *h);
void history_free(struct call_history *h);
void history_add(struct call_history *h, uint32_t call, uint32_t to);
/* The last call led to this state, which the model does not predict. */
void history_add_turn(struct call_history *h, const struct state *after);
/* Only the first `count` calls are left. */
void history_cut(struct call_history *h, size_t count);
/* No call is left, and the memory is given back until there are calls again. */
void history_rest(struct call_history *h);
/* Is it time for a fresh file system? max: of calls; 0: as many as there is room for. */
bool history_is_long(const struct call_history *h, size_t max);

/* Moves *s from the state before call `from` to the state before call `to`, and gives those calls
 * as they were made; their text goes to the arena. False if one of them cannot be made out. */
bool history_calls(const struct call_history *h, const struct predictor *p, size_t from, size_t to,
		   struct state *s, struct arena *arena, struct call *ret);

#endif
