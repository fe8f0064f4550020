/* jobs.h -- several processes of one command, each with a directory of its own. */
#ifndef CMD_JOBS_H
#define CMD_JOBS_H

#include "judge/run.h"

/* Runs `job` in processes numbered from 0, in DIR/job-0 and so on, their output going nowhere, and
 * waits for all; a signal to this process is passed on. Fails where a job could not tell; its
 * words are then in DIR/job-N/errors. */
int jobs_run(const struct run *run, unsigned count,
	     int (*job)(void *to, unsigned number, const char *dir, struct err *err), void *to,
	     struct err *err);

#endif
