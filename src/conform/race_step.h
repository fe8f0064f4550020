/* race_step.h -- races as a step of a search: calls overlap in states that it reaches.
 *
 * The search has its own file system, and continues in it. Here the calls that lead to the state
 * are the set-up of a few races, on a file system whose kernel takes schedules. The racing calls
 * are drawn from the universe of the search, each by another of its processes, and run under every
 * schedule with few switches. */
#ifndef CONFORM_RACE_STEP_H
#define CONFORM_RACE_STEP_H

#include "base/rng.h"
#include "conform/conform.h"
#include "run/run.h"
#include "universe/universe.h"

struct race_step {
	const struct universe *universe;
	struct conform_options options;
	struct model model;
	struct state start; /* of a fresh file system */
	struct run *run;
	struct rng rng;
	struct session_figures figures; /* sums */
	uint64_t paths;                 /* that were taken */
};

/* The universe needs three processes at least: those from 2 on race. The run, the universe and the
 * target's name must outlive it; where this fails, run is NULL. */
int race_step_open(struct race_step *s, const char *target, const struct target_options *o,
		   const struct universe *u, struct run *run, uint64_t seed, struct err *err);
/* Adds its figures to the run's, as "races". */
void race_step_close(struct race_step *s);
/* Races behind the calls that lead to a state from a fresh file system; findings go to the run.
 * step: a struct race_step. */
int race_step_take(void *step, const struct call *calls, size_t count, struct err *err);

#endif
