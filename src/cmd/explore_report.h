/* explore_report.h -- what is left of a search, or of several: run.json, coverage, report, words.
 */
#ifndef CMD_EXPLORE_REPORT_H
#define CMD_EXPLORE_REPORT_H

#include "explore/explore.h"

/* The code that is recorded, and of what; NULL: it is not. */
struct explore_code {
	const struct code *code;
	struct target *target;
};

/* While a search is running: its progress line, and rows of the run's time series. to: of the type
 * above. */
void explore_show_progress(void *to, const struct explore_figures *f, struct run *run);
/* Writes everything to the run's directory and prints the summary, or all as JSON. Takes over the
 * coverage. */
int explore_finish(struct run *run, const struct explore_figures *f, json_t *coverage, bool json,
		   struct err *err);
/* The same for the runs in DIR/job-0 to DIR/job-(jobs - 1) together: findings once each, states
 * that several reached once. */
int explore_merge(struct run *run, unsigned jobs, bool json, struct err *err);

#endif
