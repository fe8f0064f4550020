/* sweep.h -- one search after the other on many targets, and one table of what came out. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/jobs.h"

struct sweep_row {
	char *target;
	char *lacks;    /* why it was not searched; NULL: it was */
	json_t *result; /* its run.json; NULL where there is none */
	char *failure;  /* what it said in place of a result, or NULL */
};

struct sweep {
	struct sweep_row *rows;
	size_t count;
};

/* Adds a target; `lacks` may be "". */
void sweep_add(struct sweep *s, const char *target, const char *lacks);
void sweep_free(struct sweep *s);

/* Searches them in turn, each in its own process and directory (DIR/TARGET), so that a failure ends
 * one search only. The job gets the number of the row. A search that runs much longer than
 * `seconds` (0: no limit) is killed. */
void sweep_run(struct sweep *s, const struct run *all, const struct job *job, double seconds);

/* Puts findings, counts and the table into the run, and writes its summary. Findings are the worst
 * verdict, then targets that could not be judged. */
int sweep_collect(struct sweep *s, struct run *all, struct err *err);
/* The same, and prints it. */
int sweep_finish(struct sweep *s, struct run *all, bool json, struct err *err);

#endif
