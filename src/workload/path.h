/* path.h -- the calls that lead to a state of a search, as a workload.
 *
 * A search reaches a state by calls that change something; a call that only makes the state durable
 * leads nowhere new, and is in no path. So a workload adds what a program would: everything up to
 * some call is synced, and in the state that was reached one object, mostly one that has changed
 * since, is synced by fsync or fdatasync. Crashes begin there: states on the way have theirs. */
#ifndef WORKLOAD_PATH_H
#define WORKLOAD_PATH_H

#include "base/arena.h"
#include "model/model.h"
#include "workload/workload.h"

/* Of a path from `start`; which call is synced, and what at the end, follows from the number. In
 * memory of the arena; the calls themselves stay the caller's. */
void path_workload(const struct model *model, const struct state *start, const struct call *calls,
		   size_t count, uint64_t number, struct arena *arena, struct workload *ret);

#endif
