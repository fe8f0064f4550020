/* explore_steps.h -- what else is done in the states that a search reaches: crashes, or races. */
#ifndef CMD_EXPLORE_STEPS_H
#define CMD_EXPLORE_STEPS_H

#include "base/buf.h"
#include "conform/race_step.h"
#include "crash/crash_step.h"
#include "explore/explore.h"

struct explore_steps {
	struct crash_step crashes;
	struct race_step races;
	struct buf races_target;
};

/* Half of the time of the search is theirs, on separate instances of the target. */
int explore_steps_crash(struct explore_steps *s, const struct target *t,
			const struct target_options *options, struct run *run,
			struct explore_options *o, struct err *err);
/* The universe has the processes that race. */
int explore_steps_race(struct explore_steps *s, const struct target *t,
		       const struct target_options *options, const struct universe *u,
		       struct run *run, struct explore_options *o, struct err *err);
/* Those that were begun. */
void explore_steps_close(struct explore_steps *s);

#endif
