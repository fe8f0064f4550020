/* stop.h -- a request to stop: the run reports its results so far and ends. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <signal.h>

/* 0, or the first signal of SIGHUP, SIGINT and SIGTERM since stop_catch_signals(). A second signal
 * ends the process at once. A hangup that is already ignored (nohup) stays ignored. */
extern volatile sig_atomic_t stop_requested;
void stop_catch_signals(void);

#endif
