/* crash_step.h -- a crash as a step of a search: states that it reaches are crashed before it
 * leaves them.
 *
 * The search has its own file system, and continues in it. Here the calls that lead to the state
 * are made once more, on another one that records its disk, with what makes them durable
 * (workload/path.h), crashed, judged and reported as every workload is. */
#ifndef CRASH_CRASH_STEP_H
#define CRASH_CRASH_STEP_H

#include "crash/crash.h"
#include "run/run.h"

struct crash_step {
	struct target *target;
	struct crash_session session;
	struct run *run;
	uint64_t seed, paths; /* paths that were taken */
};

/* Opens the target to record. The run must outlive it; where this fails, run is NULL. */
int crash_step_open(struct crash_step *s, const char *target, const struct target_options *o,
		    struct run *run, uint64_t seed, struct err *err);
/* Adds its figures to the run's, as "crash". */
void crash_step_close(struct crash_step *s);
/* Crashes of the calls that lead to a state from a fresh file system; findings go to the run. step:
 * a struct crash_step. */
int crash_step_take(void *step, const struct call *calls, size_t count, struct err *err);

#endif
