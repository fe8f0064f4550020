/* figures.h -- what becomes of a script, and the figures of a session. */
#ifndef CONFORM_FIGURES_H
#define CONFORM_FIGURES_H

#include "channel/schedule.h"
#include "model/model.h"

enum script_fate {
	SCRIPT_ACCEPTED,
	SCRIPT_REJECTED,
	SCRIPT_UNKNOWN, /* something undefined was called */
	SCRIPT_SKIPPED, /* the target cannot do it: no other users, no remounting */
	SCRIPT_FATES
};

struct session_figures {
	double exec_seconds, check_seconds;
	uint64_t calls, resets, setups, reused, races;
	/* Of races by schedules: scripts, schedules, stretches that a limit has cut short; how many
	 * schedules with one switch there are, and how many of them were tried; outcomes that
	 * differ. */
	uint64_t pairs, schedules, left, whole, reduced, outcomes;
	double chance; /* of a schedule to be among those drawn, in each race, at least; 0: none */
	uint64_t unsteady; /* runs that were not as the same schedule was before: not judged */
	uint64_t searched[SCHEDULE_SWITCHES_MAX + 1]; /* scripts, by the number of switches */
	uint64_t not_made; /* scripts with a call that would take too much of a disk */
	uint64_t rule_hits[RULE_COUNT];
	char judged_by[MODEL_NAME_MAX];
};

#endif
