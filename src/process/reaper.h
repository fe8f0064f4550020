/* reaper.h -- a program that ends, with everything it has started, at the latest when we do.
 *
 * A process between us and the program adopts all that the program leaves behind, and ends them
 * when we are gone, even by SIGKILL. It needs no privilege. */
#ifndef PROCESS_REAPER_H
#define PROCESS_REAPER_H

struct err;

/* Runs the program and waits for its end, and for that of all it has started; *ret_status is as
 * wait(2) gives it. Signals that end us end it. */
int reaper_run(char *const *arguments, int *ret_status, struct err *err);

#endif
