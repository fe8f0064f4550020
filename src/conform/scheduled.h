/* scheduled.h -- calls that overlap under every schedule with few switches, each outcome judged.
 *
 * The set-up is saved; every schedule begins in a copy of it, inside a kernel that takes schedules.
 * The first whose outcomes or tree no order of effects explains is reported, with the fewest
 * switches that show it. */
#ifndef CONFORM_SCHEDULED_H
#define CONFORM_SCHEDULED_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct script_walk;
struct walker;

struct scheduled_options {
	unsigned preemptions; /* switches at most; 0: races are left to chance */
	bool whole;           /* schedules that cannot differ are tried, too */
	uint64_t limit;       /* schedules of one script; 0: all */
};

/* Carries out the walker's steps, then the walk's calls under the schedules. */
int scheduled_walk(struct walker *x, struct script_walk *w, const struct scheduled_options *o,
		   struct err *err);

#endif
