/* explore_report.h -- what is left of a search, or of several: run.json, coverage, report, words.
 */
#ifndef CMD_EXPLORE_REPORT_H
#define CMD_EXPLORE_REPORT_H

#include "explore/explore.h"

/* Writes everything to the run's directory and prints the summary, or all as JSON. Takes over the
 * coverage. */
int explore_finish(struct run *run, const struct explore_figures *f, json_t *coverage, bool json,
		   struct err *err);
/* The same for the runs in DIR/job-0 to DIR/job-(jobs - 1) together: findings once each, states
 * that several reached once. */
int explore_merge(struct run *run, unsigned jobs, bool json, struct err *err);

#endif
