/* walk.h -- random walks through the model as workloads: states that no short workload reaches.
 *
 * Calls are drawn from a profile (universe.h), with values that follow from the state, and only
 * those that succeed are kept. Walks are numbered; one is the same whenever profile, length and
 * seed are. */
#ifndef CRASH_WALK_H
#define CRASH_WALK_H

#include "model/model.h"
#include "universe/universe.h"
#include "workload/workload.h"

struct walk {
	struct universe universe;
	const struct model *model;
	const struct state *start;
	unsigned length; /* of each walk, in calls */
	uint64_t seed;
};

/* Model and start must outlive it. */
int walk_open(struct walk *w, const char *profile, const struct model *model,
	      const struct state *start, unsigned length, uint64_t seed, struct err *err);
void walk_close(struct walk *w);
/* In memory of the arena. */
void walk_workload(const struct walk *w, uint64_t index, struct arena *arena, struct workload *ret);

#endif
