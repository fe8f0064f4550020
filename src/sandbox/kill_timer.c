/* kill_timer.c -- kills the daemon while a call is under way. */
#include "sandbox/kill_timer.h"

#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/must.h"
#include "sandbox/daemon.h"

/* Moments in a call are microseconds: the usual slack of the kernel's timers is fifty. */
enum { SLACK_NS = 1 };

static void *kill_timer_run(void *own)
{
	struct kill_timer *k = own;
	struct timespec at = { .tv_sec = k->at_ns / NS_PER_S, .tv_nsec = k->at_ns % NS_PER_S };

	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	pthread_mutex_lock(&k->mutex);
	while (!k->ended && clock_ns() < k->at_ns)
		pthread_cond_clockwait(&k->changed, &k->mutex, CLOCK_MONOTONIC, &at);
	if (!k->ended) {
		daemon_send_kill();
		k->killed = true;
	}
	pthread_mutex_unlock(&k->mutex);
	return NULL;
}

bool kill_timer_start(struct kill_timer *k, int64_t after_ns)
{
	*k = (struct kill_timer){ .mutex = PTHREAD_MUTEX_INITIALIZER,
				  .changed = PTHREAD_COND_INITIALIZER,
				  .at_ns = clock_ns() + after_ns };
	return !pthread_create(&k->thread, NULL, kill_timer_run, k);
}

bool kill_timer_end(struct kill_timer *k)
{
	pthread_mutex_lock(&k->mutex);
	k->ended = true;
	pthread_cond_signal(&k->changed);
	pthread_mutex_unlock(&k->mutex);
	must(!pthread_join(k->thread, NULL));
	return k->killed;
}
