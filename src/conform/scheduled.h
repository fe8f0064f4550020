/* scheduled.h -- calls that overlap under every schedule with few switches, each outcome judged.
 *
 * The set-up is saved; every schedule begins in a copy of it, inside a kernel that takes schedules.
 * The first whose outcomes or tree no order of effects explains is reported, with the fewest
 * switches that show it. */
#ifndef CONFORM_SCHEDULED_H
#define CONFORM_SCHEDULED_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/schedule.h"

struct err;
struct script_walk;
struct walker;

struct scheduled_one {
	unsigned pid;
	struct schedule schedule;           /* without who begins and continues */
	unsigned to[SCHEDULE_SWITCHES_MAX]; /* processes; 0: threads of the kernel */
};

struct scheduled_options {
	unsigned preemptions; /* switches; 0: races are left to chance */
	bool whole;           /* schedules that cannot differ are tried, too */
	bool background; /* threads of the kernel have work, and can be continued at any point */
	bool examines;   /* what each outcome leaves behind is looked at (aftermath.h) */
	uint64_t limit;  /* schedules of one script; 0: all */
	uint64_t drawn;  /* so many of each script by chance, instead; 0: none */
	/* Only this one: the process that begins, and points; NULL: all. */
	const struct scheduled_one *one;
	bool debugs; /* it is run under gdb, which stops at its switches */
};

/* From "2@14=3,20=k", as reports have it. */
int scheduled_parse(const char *text, struct scheduled_one *ret, struct err *err);
/* Carries out the walker's steps, then the walk's calls under the schedules. */
int scheduled_walk(struct walker *x, struct script_walk *w, const struct scheduled_options *o,
		   struct err *err);

#endif
