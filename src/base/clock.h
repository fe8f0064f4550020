/* clock.h -- the monotonic clock, and CPU time. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

/* Of the monotonic clock. */
int64_t clock_ns(void);
int64_t clock_ms(void);
double clock_seconds(void);

/* CPU time of this process and all that it started. */
double cpu_seconds(void);

#endif
