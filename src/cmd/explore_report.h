/* explore_report.h -- what is left of a search, or of several: run.json, coverage, report, words.
 */
#ifndef CMD_EXPLORE_REPORT_H
#define CMD_EXPLORE_REPORT_H

#include "explore/explore.h"
#include "workers/explore_jobs.h"

/* Who follows a search while it is running. */
struct explore_progress {
	const struct code *code; /* that is recorded; NULL: it is not */
	struct target *target;
	/* A worker of several reports to its parent; NULL: it shows a line. */
	void (*instead)(void *to, const struct explore_figures *f, struct run *run);
	void *instead_to;
	double seconds; /* how long the search may take; 0: no limit */
};

/* Rows of the run's time series, and the progress line. to: of the type above. */
void explore_show_progress(void *to, const struct explore_figures *f, struct run *run);
/* Writes everything to the run's directory and prints the summary, or all as JSON. Takes over the
 * coverage. */
int explore_finish(struct run *run, const struct explore_figures *f, json_t *coverage, bool json,
		   struct err *err);
/* The same for the runs of jobs in DIR/job-0 and so on together: findings once each, states that
 * several reached once. Of one that was killed only what it had found is left. */
int explore_merge(struct run *run, const struct explore_jobs *jobs, bool json, struct err *err);

/* What the workers of a swarm have done. */
struct swarm_sum {
	const json_t *figures, *coverage; /* by number of the worker */
	const json_t *dead;               /* numbers whose work was done once more */
	uint64_t states;
	struct hash states_sum;
	bool nothing_left; /* in all searches */
};
/* The same for them; their findings are in the run already. */
int explore_merge_swarm(struct run *run, const struct swarm_sum *sum, bool json, struct err *err);

#endif
