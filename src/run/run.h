/* run.h -- one execution of an instrument: its directory, its findings, its end.
 *
 * runs/<time>-<command>-<target>/ holds run.json, series.csv, trace, coverage.json,
 * findings/NNN-CODE/, unconfirmed/NNN-CODE/ and report.html; runs/latest points to the newest. A
 * stop at any moment loses nothing written. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <jansson.h>

#include "base/map.h"
#include "base/stop.h"
#include "finding/finding.h"
#include "run/known.h"
#include "run/run_dir.h"
#include "run/run_meta.h"
#include "run/series.h"

struct run {
	struct run_dir place;
	const char *dir; /* the path of that */
	const char *command, *target;
	uint64_t seed;
	double started_seconds, started_cpu;
	char date[RUN_DATE]; /* when it began */
	bool ended;
	struct series series;
	struct str_map signatures; /* of findings so far, by target: how often each was met */
	struct known known;        /* failures that are not reported */
	json_t *findings;          /* array of {code, title, path, signature, ...} */
	json_t *unconfirmed;       /* the same of what no replay has shown, a row for each cause */
	struct str_map attempts;   /* signatures of those: how often work on one has ended so */
	json_t *open;              /* the row of what is being worked on; NULL: nothing */
	enum verdict verdict;      /* BAD: a finding; UNKNOWN: only unconfirmed */
	enum verdict verdict_before; /* the one that is worked on was met */
	json_t *figures;             /* the command's own, merged into run.json */
	json_t *job_summaries;       /* of its processes, by number; NULL: there were none */
};

/* Makes the directory (out: the path, or NULL for the usual one). In one that holds a run
 * already, its findings are taken over. On failure nothing is to be freed. */
int run_open(struct run *r, const char *command, const char *target, const char *out, uint64_t seed,
	     struct err *err);
/* Failures that the file names are known from now on (known.h). NULL: none. */
int run_read_known(struct run *r, const char *path, struct err *err);
/* Writes such a file, of what is known already and of more failures, a line each; NULL: none. */
int run_write_known(const struct run *r, const char *path, const struct buf *failures,
		    struct err *err);
/* The findings as such lines: the group of each. */
void run_print_failures(const struct run *r, struct buf *out);
/* True if a finding of this signature is already there, or is a known failure; counts the latter.
 */
bool run_knows(struct run *r, const struct finding *f);

/* A discrepancy is met, updated as more is known of it, and settled. Each step is written to its
 * folder and to run.json before anything else happens, so that it survives whatever comes. What
 * cannot be written stays in the list, with the reason and its trace: it is not lost, and the work
 * continues. t: where it was found; may be NULL. */

/* Kept aside, in unconfirmed/, until a replay has shown it. */
void run_meet(struct run *r, const struct finding *f, const struct target *t);
/* It is this one now. Once it is confirmed (finding.h), it is in findings/ and listed there. */
void run_update(struct run *r, const struct finding *f, const struct target *t);
/* Work on it has ended. Of the findings of its group the simplest is listed for all; one that is
 * not confirmed is put under them or, where there are none, counted with others like it. */
void run_settle(struct run *r);
/* Called with the row of each finding that is settled, so that it can be shown; NULL: none is. */
extern void (*run_finding_hook)(const json_t *row);
/* A discrepancy whose cause is a finding already: how many calls that one has, or UINT64_MAX if
 * its program does not show it, so that another is wanted; 0 if there is none of this group. */
uint64_t run_group_calls(const struct run *r, const struct finding *f);
/* Puts it under the finding of its group, with its calls if it has any, and counts its signature as
 * met. False if there is no such finding. */
bool run_join(struct run *r, const struct finding *f, const struct target *t);
/* The same where its group is known by its name. */
bool run_join_group(struct run *r, const struct finding *f, const char *group,
		    const struct target *t);
/* It is one that is known, blamed on another call: it is not kept. */
void run_withdraw(struct run *r);
/* The folder of the one that is worked on, or was settled last; NULL if it could not be written. */
const char *run_folder(const struct run *r);

/* How often work on a discrepancy of this signature has ended without confirming it. */
unsigned run_attempts(const struct run *r, const char *signature);
/* It was met again and is not worked on: counts it. */
void run_meet_again(struct run *r, const struct finding *f);
/* Takes up unconfirmed number i, if it was met on this target and never replayed: reads its calls.
 * False if there is nothing to do. */
bool run_take_up(struct run *r, size_t i, const char *target, struct finding *ret);
/* Takes over what another run has found, whose directory is DIR/subdir: each finding of a target
 * once. */
void run_merge(struct run *r, const json_t *summary, const char *subdir);
/* While processes of this run work in DIR/job-N: writes a run.json that has what they have found so
 * far, as it is in theirs. The run itself takes nothing over. */
void run_show_jobs(const struct run *r, unsigned jobs);
/* Findings of processes of this run are found in its own directory, too. */
void run_gather(struct run *r);

/* run.json says which model judges the target. */
void run_judged_by(struct run *r, const struct target *t, const struct model *m);
/* While it is running: whether a row of its time series is due; adds that row, of its figures as
 * they are now. The first one also writes run.json. */
bool run_sample_is_due(const struct run *r);
void run_sample(struct run *r);
/* The time series of its jobs is its own. */
void run_sample_jobs(struct run *r, unsigned jobs);
/* It has ended: the last row, and a verdict that holds. */
void run_end(struct run *r);
/* What run.json says. */
json_t *run_summary(const struct run *r);
/* Writes run.json. May be called again and again: a run that is killed then leaves the latest. */
int run_close(struct run *r, struct err *err);
void run_free(struct run *r);

/* Inside: writes a run.json. */
int run_write_summary(const struct run *r, const json_t *summary, struct err *err);
/* Inside: the findings of an earlier part of the same run. */
int run_load_findings(struct run *r, struct err *err);
/* Inside: how often a signature was met on a target; NULL: no finding there has it. */
uint64_t *run_met(const struct run *r, const char *target, const char *signature);
/* Inside: writes how often signatures were met to the rows of findings, and to those under them. */
void run_set_counts(const struct run *r);

#endif
