/* stop.h -- a request to stop: the run reports its results so far and ends. */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include <signal.h>

/* The signal, set by SIGHUP, SIGINT and SIGTERM once run_catch_signals() was called. A second one
 * ends the process at once. A hangup that is ignored already (nohup) stays so. */
extern volatile sig_atomic_t run_stop;
void run_catch_signals(void);

#endif
