/* conform.h -- a suite of scripts on a target, by several jobs at once.
 *
 * A job is a process with its own target; jobs take scripts in small portions
 * from a common counter. Races by schedules take rounds: all scripts with one switch, then all that
 * are not rejected with two, and so on; in a round, families take turns (turns.h). What a job finds
 * out lies in memory that is shared from the start, so that a job that dies takes nothing with it
 * but its last script. */
#ifndef CONFORM_CONFORM_H
#define CONFORM_CONFORM_H

#include "conform/session.h"

enum { CONFORM_JOBS_MAX = 64 };

struct conform_options {
	struct session_options session;
	unsigned jobs;
	double seconds; /* after which no further script begins; 0: no limit */
	/* Called a few times a second, may be NULL. */
	void (*progress)(void *to, size_t done, size_t rejected);
	void *progress_to;
};

/* What became of a suite on one target. */
struct conform_result {
	const struct suite *suite;
	char *target;
	uint8_t *fates; /* enum script_fate, by number; SCRIPT_FATES: not run */
	size_t counts[SCRIPT_FATES + 1];
	struct deviation *deviations; /* by number of their scripts */
	size_t deviation_count;
	struct session_figures figures; /* times are shares of the time that passed */
	double seconds;
	bool stopped; /* asked to, before the end */
	bool cut;     /* scripts were left, in the last round or before: asked to, or time is up */
};

/* How often each script is run, at most: by the number of switches. */
unsigned conform_rounds(const struct conform_options *options);
/* On failure there may be a part of the results; free them also then. */
int conform_run(struct conform_result *ret, const struct suite *suite,
		const struct conform_options *options, struct err *err);
void conform_result_free(struct conform_result *r);

#endif
