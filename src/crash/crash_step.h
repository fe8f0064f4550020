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
	struct crash_session session;
	struct run *run;
	uint64_t seed, paths; /* paths that were taken */
};

/* The target was opened to record; it and the run must outlive it. */
int crash_step_open(struct crash_step *s, struct target *t, struct run *run, uint64_t seed,
		    struct err *err);
void crash_step_close(struct crash_step *s);
/* All crashes of the calls that lead to a state from a fresh file system; findings go to the run.
 */
int crash_step_take(struct crash_step *s, const struct call *calls, size_t count, struct err *err);

#endif
