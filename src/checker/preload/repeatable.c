/* repeatable.c -- what would make two runs of a checker differ: the time, random numbers, the
 * number of the process; and a bound on the processes that a run starts. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "preload.h"

enum { PROCESS_ID = 2 }; /* that a run takes itself for */

PRELOAD_EXPORT time_t time(time_t *ret)
{
	time_t now = preload_control ? (time_t)preload_control->now : preload_next()->time(NULL);

	if (ret)
		*ret = now;
	return now;
}

PRELOAD_EXPORT int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	if (!preload_control)
		return preload_next()->gettimeofday(tv, zone);
	*tv = (struct timeval){ .tv_sec = (time_t)preload_control->now };
	return 0;
}

PRELOAD_EXPORT int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!preload_control || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
		return preload_next()->clock_gettime(clock, ts);
	*ts = (struct timespec){ .tv_sec = (time_t)preload_control->now };
	return 0;
}

/* Every run begins with the same state, since every run is a copy. */
static void repeatable_fill(unsigned char *to, size_t len)
{
	static uint64_t state = 1;

	for (size_t i = 0; i < len; i++) {
		state = state * 6364136223846793005U + 1442695040888963407U;
		to[i] = (unsigned char)(state >> 56);
	}
}

PRELOAD_EXPORT ssize_t getrandom(void *to, size_t len, unsigned flags)
{
	if (!preload_control)
		return preload_next()->getrandom(to, len, flags);
	repeatable_fill(to, len);
	return (ssize_t)len;
}

PRELOAD_EXPORT int getentropy(void *to, size_t len)
{
	if (!preload_control)
		return preload_next()->getentropy(to, len);
	repeatable_fill(to, len);
	return 0;
}

PRELOAD_EXPORT pid_t getpid(void)
{
	return preload_control ? PROCESS_ID : (pid_t)syscall(SYS_getpid);
}

PRELOAD_EXPORT int kill(pid_t pid, int signal)
{
	if (preload_control && pid == PROCESS_ID)
		pid = (pid_t)syscall(SYS_getpid);
	return preload_next()->kill(pid, signal);
}

/* Limits are ours. reiserfsck wants to lift one, and complains where it cannot. */
PRELOAD_EXPORT int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
	if (preload_control && resource == RLIMIT_FSIZE)
		return 0;
	return (int)syscall(SYS_prlimit64, 0, resource, limit, NULL);
}

PRELOAD_EXPORT int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return setrlimit(resource, (const struct rlimit *)limit);
}

PRELOAD_EXPORT pid_t fork(void)
{
	if (preload_control &&
	    atomic_fetch_add(&preload_control->processes, 1) >= CONTROL_PROCESSES_MAX) {
		errno = EAGAIN;
		return -1;
	}
	return preload_next()->fork();
}
