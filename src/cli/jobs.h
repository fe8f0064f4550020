/* jobs.h -- processes of one command, each with its own directory. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include <limits.h>
#include <sys/types.h>

#include "run/run.h"

/* What a process does; its result is an exit code. */
struct job {
	int (*work)(void *to, unsigned number, const char *dir, struct err *err);
	void *to;
	bool speaks; /* its words are for the user */
};

/* Starts it in the directory, which is made. Its output goes nowhere, its words to DIR/errors or,
 * if it speaks, where ours go. */
pid_t job_start(const struct job *job, unsigned number, const char *dir, struct err *err);
/* Waits for its end; a signal to this process is passed on. After the given time (0: never) it is
 * asked to end, and after as long again made to. Returns its exit code. */
int job_await(pid_t pid, double seconds);

enum { JOBS_MAX = 1024 };
/* 0 is one for each processor that we may use. */
unsigned jobs_wanted(unsigned wanted);
/* The same, as many as can work on the target at once: one, if it uses a directory or device of the
 * user. */
unsigned jobs_on(const char *target, const char *config, unsigned wanted);

/* Runs one to its end. *ret_summary: what it has printed, a summary in JSON, or NULL if it was
 * killed before. Fails where it could not tell. */
int job_run(const struct job *job, unsigned number, const char *dir, json_t **ret_summary,
	    struct err *err);

/* Takes over what job number so and so has found. *ret_summary: what it has printed, or else its
 * run.json, for the rest. */
int job_merge(struct run *run, unsigned job, json_t **ret_summary, struct err *err);
/* Adds these figures of a summary (NULL ends them) to the run's. */
void job_add_figures(struct run *run, const json_t *summary, const char *const *figures);

/* Runs processes numbered from 0, in DIR/job-0 and so on, and waits for all. Fails where one could
 * not tell. What they print, a summary in JSON, is kept for job_merge(). */
int jobs_run(struct run *run, unsigned count, const struct job *job, struct err *err);

enum { JOB_NONE = INT_MIN };

/* Who looks after processes that do one work together. */
struct job_care {
	/* Again and again while they work: true if all are to end now. */
	bool (*look)(void *to);
	/* One has ended, in order or by a failure that it has described; its exit code. */
	void (*ended)(void *to, unsigned number, int code, bool failed);
	/* One was killed: the number of another to be started for it, JOB_NONE where none is
	 * needed, or a negative errno where none can be. */
	int (*killed)(void *to, unsigned number);
	void *to;
};

/* The same for those. Fails where one has failed, or the last was killed. */
int jobs_run_together(const struct run *run, unsigned count, const struct job *job,
		      const struct job_care *care, struct err *err);

#endif
