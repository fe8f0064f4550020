/* clock.c -- the monotonic clock. */
#include "base/clock.h"

#include <time.h>

int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_ms(void)
{
	return clock_ns() / NS_PER_MS;
}

double clock_seconds(void)
{
	return (double)clock_ns() * 1e-9;
}
