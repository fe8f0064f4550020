/* call_history.c -- the calls since the file system was fresh. */
#include "explore/call_history.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/must.h"
#include "plan/nearby.h"

static const size_t calls_size = (HISTORY_MAX + HISTORY_SLACK) * sizeof(struct history_call);

void history_init(struct call_history *h)
{
	*h = (struct call_history){ 0 };
	h->calls = must_map(calls_size);
}

void history_copy(struct call_history *to, const struct call_history *h)
{
	history_init(to);
	memcpy(to->calls, h->calls, h->count * sizeof(*h->calls));
	for (size_t i = 0; i < h->turn_count; i++) {
		to->count = h->turns[i].at + 1;
		history_add_turn(to, &h->turns[i].after);
	}
	to->count = h->count;
}

void history_free(struct call_history *h)
{
	history_cut(h, 0);
	must_unmap(h->calls, calls_size);
	free(h->turns);
	*h = (struct call_history){ 0 };
}

void history_add(struct call_history *h, uint32_t call, uint32_t to)
{
	must(h->count < HISTORY_MAX + HISTORY_SLACK);
	h->calls[h->count++] = (struct history_call){ call, to };
}

void history_add_turn(struct call_history *h, const struct state *after)
{
	if (h->turn_count == h->turn_cap) {
		h->turn_cap = h->turn_cap ? 2 * h->turn_cap : 64;
		h->turns = must_realloc(h->turns, h->turn_cap * sizeof(*h->turns));
	}
	h->turns[h->turn_count++] = (struct history_turn){ h->count - 1, state_copy(after) };
}

void history_cut(struct call_history *h, size_t count)
{
	h->count = count;
	while (h->turn_count && h->turns[h->turn_count - 1].at >= count)
		state_free(&h->turns[--h->turn_count].after);
}

void history_rest(struct call_history *h)
{
	history_cut(h, 0);
	/* Where that fails, only memory is lost. */
	madvise(h->calls, calls_size, MADV_DONTNEED);
}

bool history_is_long(const struct call_history *h, size_t max)
{
	return h->count >= (max ? max : HISTORY_MAX) || h->turn_count >= HISTORY_TURNS_MAX;
}

/* The first turn at or behind a call. */
static size_t history_find_turn(const struct call_history *h, size_t at)
{
	size_t low = 0, high = h->turn_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (h->turns[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool history_call(const struct universe *u, uint32_t number, const struct state *s,
		  struct arena *arena, struct call *ret)
{
	if (number < UNIVERSE_CALLS_MAX)
		return nearby_call(u, number, s, arena, ret);
	*ret = (struct call){ .op = (uint16_t)(number - UNIVERSE_CALLS_MAX), .pid = 1 };
	return true;
}

bool history_calls(const struct call_history *h, const struct predictor *p, size_t from, size_t to,
		   struct state *s, struct arena *arena, struct call *ret)
{
	size_t turn = history_find_turn(h, from);
	struct outcome outcome;

	for (size_t i = from; i < to; i++, ret++) {
		if (!history_call(p->universe, h->calls[i].call, s, arena, ret))
			return false;
		if (turn < h->turn_count && h->turns[turn].at == i) {
			state_free(s);
			*s = state_copy(&h->turns[turn++].after);
		} else {
			model_run(p->model, s, ret, &outcome);
		}
	}
	return true;
}
