/* full.h -- a workload on a full disk.
 *
 * The files that it needs are there; then other files take the rest of the disk, by halves, until
 * nothing more fits, and everything is synced. What the workload changes then fails in part: with
 * ENOSPC, or by writing less. What it has promised all the same must survive. */
#ifndef WORKLOAD_FULL_H
#define WORKLOAD_FULL_H

#include "base/arena.h"
#include "workload/workload.h"

/* In memory of the arena; calls of the workload stay the caller's. */
void full_workload(const struct workload *w, uint64_t disk_bytes, struct arena *arena,
		   struct workload *ret);

#endif
