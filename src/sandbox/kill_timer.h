/* kill_timer.h -- kills the daemon while a call is under way.
 *
 * For the second process of a PID namespace, which is caught in the call itself: a signal would
 * not interrupt it. So a thread of it waits and kills. */
#ifndef SANDBOX_KILL_TIMER_H
#define SANDBOX_KILL_TIMER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/sandbox_ops.h"

struct kill_timer {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	const struct sandbox_ops *ops;
	int outside_fd; /* the root directory that the ops need; -1: as it is */
	int64_t at_ns;  /* of the monotonic clock */
	bool ended, killed;
};

/* Kills every other process of the namespace after this time, unless it is ended before. False:
 * there is no thread. */
bool kill_timer_start(struct kill_timer *k, const struct sandbox_ops *ops, int outside_fd,
		      int64_t after_ns);
/* Whether it has killed. */
bool kill_timer_end(struct kill_timer *k);

#endif
