/* resync.h -- workloads that sync several times: what is durable changes, and is synced again.
 *
 * fsync takes a shortcut in most file systems: it writes a log of one file, or nothing, in place of
 * a commit. What such a log must have depends on what was logged before, and on what happened to
 * the names and the data since. So there are durable files with several names and attributes; one
 * to four changes of a table, each of which may be followed by a sync; and at the end one object,
 * mostly one that has changed, is synced.
 *
 * Each is drawn by its number and a seed: there is no last one. */
#ifndef WORKLOAD_RESYNC_H
#define WORKLOAD_RESYNC_H

#include "base/arena.h"
#include "model/model.h"
#include "workload/workload.h"

/* In memory of the arena. What the model says to fail is left out. */
void resync_workload(const struct model *model, const struct state *start, uint64_t index,
		     uint64_t seed, struct arena *arena, struct workload *ret);

#endif
