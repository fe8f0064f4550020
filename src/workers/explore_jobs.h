/* explore_jobs.h -- one search by several processes: what they share, and who looks after them. */
#ifndef WORKERS_EXPLORE_JOBS_H
#define WORKERS_EXPLORE_JOBS_H

#include "cli/jobs.h"
#include "explore/explore.h"
#include "share/memory.h"

struct explore_jobs {
	struct share_memory *memory; /* NULL: they share nothing */
	unsigned count;              /* started so far, replacements included */
	unsigned worker;             /* of this process */
	int failed_code;             /* exit code of the first that failed; 0: none did */
	bool ran;                    /* they have been started */
	unsigned replaced, replaced_max;
	bool alone; /* there is but one search, not several that take turns */
	uint64_t findings_max;
	double started_seconds;
	double seconds;        /* how long they may take; 0: no limit */
	const struct run *run; /* the one that they are parts of */
	double shown_seconds;  /* when run.json was last written, of clock_seconds() */
	const char *target;
	enum job_loss {
		JOB_FINE,
		JOB_LOST, /* killed: what it had made, others have made again */
		JOB_LATE, /* killed when nothing was left to make */
	} *
		lost; /* by number */
};

/* Of so many processes, each with so much memory. */
int explore_jobs_open(struct explore_jobs *j, unsigned count, uint64_t memory, struct err *err);
void explore_jobs_close(struct explore_jobs *j);
/* Runs them all; one that is killed is replaced, a few times. */
int explore_jobs_run(struct explore_jobs *j, const struct run *run, const struct job *job,
		     struct err *err);

/* How many the run in a directory had; 1 if it was alone. */
unsigned explore_jobs_of(const char *run);

/* In such a process: the search is part of one, and says how far it is. */
void explore_jobs_join(struct explore_jobs *j, unsigned number, struct explore_options *o);

/* Of a worker of a swarm: what `assay explore` in this process shares, and whom it says how far it
 * is. progress is NULL: it is no such worker. */
struct explore_part {
	struct share_source shared;
	void (*progress)(void *to, const struct explore_figures *f, struct run *run);
	void *progress_to;
};
extern struct explore_part explore_part;
void explore_part_join(const struct explore_part *p, struct explore_options *o);

#endif
