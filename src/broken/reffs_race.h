/* reffs_race.h -- calls of several processes on RefFS, as if they overlapped.
 *
 * A seeded random choice selects the next process: its call, a step of its effect, or its
 * return. So the same seed is the same race. RefFS does each call in one step; with a fault it
 * does one kind of call in two, and others come in between. */
#ifndef BROKEN_REFFS_RACE_H
#define BROKEN_REFFS_RACE_H

#include "base/arena.h"
#include "broken/faults.h"
#include "channel/request.h"

/* What a call has found out in its first step. */
struct race_memory {
	unsigned step;
	uint64_t size;
};

struct race_fault {
	const char *name, *text;
	/* One step of a call; true if it was the last, with the outcome. */
	bool (*step)(struct faulty *f, const struct call *c, struct race_memory *memory,
		     struct outcome *ret);
};

extern const struct race_fault race_fault_table[];
extern const size_t race_fault_count;
/* NULL if there is none of that name. */
const struct race_fault *race_fault_find(const char *name);

/* Outcomes have their bytes in the arena. */
void reffs_race(struct faulty *f, const struct race_fault *fault, const struct call *calls,
		size_t count, uint64_t seed, struct arena *arena, struct race_outcome *ret);

#endif
