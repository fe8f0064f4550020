/* kill_timer.c -- kills the daemon while a call is under way. */
#include "sandbox/kill_timer.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"
#include "sandbox/daemon.h"

/* Moments in a call are microseconds: the usual slack of the kernel's timers is fifty. */
enum { SLACK_NS = 1 };

/* What a killed daemon may take to end before its connection is ended for it. */
static const int64_t end_ns = NS_PER_S / 2;

/* Until it is ended, or this time. */
static void kill_timer_await(struct kill_timer *k, int64_t at_ns)
{
	struct timespec at = { .tv_sec = at_ns / NS_PER_S, .tv_nsec = at_ns % NS_PER_S };

	while (!k->ended && clock_ns() < at_ns)
		pthread_cond_clockwait(&k->changed, &k->mutex, CLOCK_MONOTONIC, &at);
}

/* Out of the root directory that calls are confined to, this thread alone. */
static bool kill_timer_leave_root(const struct kill_timer *k)
{
	return k->outside_fd < 0 || (!unshare(CLONE_FS) && !fchdir(k->outside_fd) && !chroot("."));
}

static void *kill_timer_run(void *own)
{
	struct kill_timer *k = own;

	prctl(PR_SET_TIMERSLACK, SLACK_NS);
	pthread_mutex_lock(&k->mutex);
	kill_timer_await(k, k->at_ns);
	if (!k->ended) {
		daemon_send_kill();
		k->killed = true;
		kill_timer_await(k, clock_ns() + end_ns);
	}
	/* The caller waits for a daemon that waits for itself. */
	if (!k->ended && kill_timer_leave_root(k))
		k->ops->abort(k->ops->own);
	pthread_mutex_unlock(&k->mutex);
	return NULL;
}

bool kill_timer_start(struct kill_timer *k, const struct sandbox_ops *ops, int outside_fd,
		      int64_t after_ns)
{
	*k = (struct kill_timer){ .mutex = PTHREAD_MUTEX_INITIALIZER,
				  .changed = PTHREAD_COND_INITIALIZER,
				  .ops = ops,
				  .outside_fd = outside_fd,
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
