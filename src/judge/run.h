/* run.h -- one execution of an instrument: its directory, its findings, its end.
 *
 * runs/<time>-<command>-<target>/ holds run.json, trace, coverage.json, findings/NNN-CODE/ and
 * report.html; runs/latest points to the newest. A stop at any moment loses nothing written. */
#ifndef JUDGE_RUN_H
#define JUDGE_RUN_H

#include <jansson.h>

#include "base/map.h"
#include "judge/expected.h"
#include "judge/finding.h"
#include "judge/run_dir.h"
#include "judge/run_stop.h"

struct run {
	struct run_dir place;
	const char *dir; /* the path of that */
	const char *command, *target;
	uint64_t seed;
	double started_seconds, started_cpu;
	struct str_map signatures; /* of findings so far */
	struct expected expected;  /* findings that are not reported */
	json_t *findings;          /* array of {code, title, path, signature, ...} */
	enum verdict verdict;
	json_t *figures; /* the command's own, merged into run.json */
};

/* Makes the directory (out: the path, or NULL for the usual one). In one that holds a run
 * already, its findings are taken over. On failure nothing is to be freed. */
int run_open(struct run *r, const char *command, const char *target, const char *out, uint64_t seed,
	     struct err *err);
/* Findings that the file names are expected from now on (expected.h). */
int run_expect(struct run *r, const char *path, struct err *err);
/* True if a finding of this signature is already there, or expected. */
bool run_knows(struct run *r, const char *signature);
/* Adds a finding: writes its folder and run.json, so that it survives whatever comes. */
int run_add(struct run *r, const struct finding *f, struct target *t, struct err *err);
/* The finding added last is this one now: shrunk, verified. */
int run_replace(struct run *r, const struct finding *f, struct target *t, struct err *err);
/* Its folder. */
const char *run_last_folder(const struct run *r);
/* run.json says which model judges the target. */
void run_judged_by(struct run *r, const struct target *t, const struct model *m);
/* What run.json says. */
json_t *run_summary(const struct run *r);
/* Writes run.json. May be called again and again: a run that is killed then leaves the latest. */
int run_close(struct run *r, struct err *err);
void run_free(struct run *r);

#endif
