/* figures.h -- what becomes of a script, and the figures of a session. */
#ifndef CONFORM_FIGURES_H
#define CONFORM_FIGURES_H

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
	/* Of races by schedules: pairs of processes whose schedules were all tried, schedules, those
	 * that a limit has left, how many there would be without what cannot differ (with one
	 * switch, and how many of those were tried), and outcomes that differ. */
	uint64_t pairs, schedules, left, whole, reduced, outcomes;
	uint64_t not_made; /* scripts with a call that would take too much of a disk */
	uint64_t rule_hits[RULE_COUNT];
	char judged_by[MODEL_NAME_MAX];
};

#endif
