/* search.h -- all schedules of a few tasks with few switches, as far as they can differ.
 *
 * Two schedules in which accesses in conflict come in the same order are the same. Of these the one
 * with the fewest switches is tried, and of those the one whose switches come latest:
 *   - If nothing that a task did since an earlier point conflicts with what others do while it
 *     waits, waiting at the earlier point comes to the same. So the next point to try in a stretch
 *     of one task is the last one before an access in conflict with what was done that time, at
 *     first with what is done behind the stretch.
 *   - While a task waits, the others have to do something in conflict with what it was about to do:
 *     else it could have waited at its next point instead.
 *   - Before the task that was stopped last continues, the other one has to do something in
 *     conflict with what that did before it was stopped: else it could have done all of it at once,
 *     with fewer switches. */
#ifndef SCHEDULE_SEARCH_H
#define SCHEDULE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "channel/schedule.h"

struct err;
struct rng;

/* Runs a schedule. *ret_ended: it came to its end, and the board reports it. */
typedef int schedule_run(void *own, const struct schedule *s, bool *ret_ended, struct err *err);

struct schedule_search {
	const struct schedule_board *board; /* of the last run */
	schedule_run *run;
	void *own;
	unsigned processes; /* any of them may begin */
	bool whole;         /* nothing is left out: to test the reduction */
	uint64_t limit;     /* schedules at most; 0: no limit */
	const bool *stop;   /* ends the search where it becomes true; NULL: never */
	/* How many were run; that the limit has left, as far as is known; and points at which there
	 * could have been a further switch. */
	uint64_t schedules, left, points;
	uint32_t longest; /* most points of one that was drawn, or of one without a switch before */
	struct schedule_copy *copies;
};

/* All with exactly that many switches; those with fewer are run on the way and not counted, but for
 * the ones without any, which belong to 1. Fails where a run does. */
int schedule_search(struct schedule_search *s, unsigned switches, struct err *err);
void schedule_search_free(struct schedule_search *s);

/* So many that are drawn: who begins, that many points of a run, and who continues there. Where a
 * task is stopped depends on the run; the board says it afterwards. `others` is the number of tasks
 * besides the running one. */
int schedule_draw(struct schedule_search *s, unsigned switches, unsigned others, uint64_t count,
		  struct rng *rng, struct err *err);
/* How likely a given schedule with that many switches is to be among those drawn, at least: its
 * run has no more points than those that were made. */
double schedule_chance(const struct schedule_search *s, unsigned switches, unsigned others);

/* How many words several tasks have used, one of them writing, as a board has learned them. */
uint64_t schedule_conflicts(const struct schedule_board *b);

#endif
