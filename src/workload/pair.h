/* pair.h -- workloads of two processes and one fsync.
 *
 * Process 1 has a file open and changes it. Process 2 does something to the same file or its names:
 * renames or removes it, replaces it, writes to it. Then one of them syncs once. What does a
 * descriptor promise whose file has another name by now, or none, or data that another process
 * wrote? Calls are made one after the other; what differs from a workload of one process is who
 * holds what open. */
#ifndef WORKLOAD_PAIR_H
#define WORKLOAD_PAIR_H

#include "base/arena.h"
#include "workload/workload.h"

/* They are numbered from 0 to below this. */
uint64_t pair_count(void);
/* In memory of the arena. */
void pair_workload(uint64_t index, struct arena *arena, struct workload *ret);

#endif
