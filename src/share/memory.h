/* memory.h -- workers of one machine: what they share is memory that they inherit.
 *
 * The process that starts them opens it, says which of them have died, and reads the sums. Nothing
 * is left behind when all are killed. */
#ifndef SHARE_MEMORY_H
#define SHARE_MEMORY_H

#include "share/share.h"

enum { SHARE_WORKERS_MAX = 4096, SHARE_CHANNELS_MAX = 32 };

struct share_memory;

/* What a worker has done so far. */
struct share_progress {
	uint64_t calls, transitions, findings;
};

/* For workers 0 to workers - 1, which are to be started; about so many bytes for what they visit.
 */
struct share_memory *share_memory_open(unsigned workers, uint64_t bytes, struct err *err);
void share_memory_close(struct share_memory *m);

/* ---- of a worker ---- */

/* One search of several that the worker has, numbered from 0. Freed by close(). */
struct share *share_memory_join(struct share_memory *m, unsigned worker, unsigned channel);
void share_memory_publish(struct share_memory *m, unsigned worker, const struct share_progress *p);

/* ---- of the process that starts them ---- */

/* One worker more; its number, or -ENOSPC. */
int share_memory_add(struct share_memory *m);
/* It was killed: what it had taken is free. */
void share_memory_died(struct share_memory *m, unsigned worker);
/* It has ended in order, and its work is done or given up by all. */
void share_memory_left(struct share_memory *m, unsigned worker);
/* Is nothing left to do in this search for anyone? */
bool share_memory_is_over(const struct share_memory *m, unsigned channel);
/* What a worker has said last; and the sums over all workers, and the states that were counted. */
struct share_progress share_memory_progress_of(const struct share_memory *m, unsigned worker);
struct share_progress share_memory_progress(const struct share_memory *m, uint64_t *ret_states);
/* The states, exactly: how many, and the sum of their hashes. */
uint64_t share_memory_states(const struct share_memory *m, struct hash *ret_sum);

#endif
