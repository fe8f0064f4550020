/* work_parts.h -- work that is divided in numbered parts, which need not know of each other.
 *
 * Each part is an entry of a stream with a consumer group. Who reads it has it until its result is
 * there; when that worker dies, another gets it. The result of a part takes the place of an earlier
 * one of the same part, so that nothing is counted twice, however often a part is done. A part that
 * was begun PART_TRIES times without an end is given up. */
#ifndef SWARM_WORK_PARTS_H
#define SWARM_WORK_PARTS_H

#include "swarm/results.h"

enum { PART_TRIES = 8 };

/* Puts them there, once: those that are or were there stay as they are. */
int work_parts_put(struct swarm_run *r, unsigned count, struct err *err);

enum part_offer { PART_MINE, PART_WAIT, PART_NONE_LEFT };
/* The next part that no other living worker has. Waits for the server, as long as its worker may.
 */
int work_parts_take(struct swarm_worker *w, enum part_offer *ret, unsigned *ret_number,
		    struct err *err);
/* What was found, by the run.json in this directory, and then what it has printed. is_done: it came
 * to its end; else it is another's to do again. */
int work_parts_end(struct swarm_worker *w, struct results_sender *s, unsigned number,
		   const char *dir, const json_t *printed, bool is_done, struct err *err);

/* Parts that are still to be done to their end; of these, that a worker has; given up. */
struct work_parts_counts {
	uint64_t open, begun, given_up;
};
int work_parts_count(struct swarm_run *r, struct work_parts_counts *ret, struct err *err);
/* *ret: {NUMBER: what it has printed}. */
int work_parts_fetch(struct swarm_run *r, json_t **ret, struct err *err);

#endif
