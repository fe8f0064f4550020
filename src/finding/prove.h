/* prove.h -- a finding's own program as evidence: compiled, run on a fresh file system of the same
 * target, and seen to show the bug. */
#ifndef FINDING_PROVE_H
#define FINDING_PROVE_H

#include <stdbool.h>

struct buf;
struct err;
struct finding;
struct target;

/* What a program reads besides what it checks, simplest first: the reads of a search may be part of
 * what leads to a bug. */
enum repro_watch {
	WATCH_NOTHING,
	WATCH_SINCE_REMOUNT, /* everything, after each call since the last remount but the last */
	WATCH_CALLS,         /* everything, before the first call and after each but the last */
	WATCH_ALL,           /* and after the last */
};

enum proof_end {
	PROOF_NONE,    /* the program was not run yet */
	PROOF_SHOWN,   /* it ended as a program that shows the bug does: with 1 */
	PROOF_ABSENT,  /* with 0: it does not show */
	PROOF_UNKNOWN, /* with 2, or in a way that tells nothing: it cannot tell */
	PROOF_NOT_RUN, /* and why says the reason */
};

struct program_proof {
	enum proof_end end;
	enum repro_watch watch; /* how the program that is written out watches */
	unsigned wait_seconds;  /* how long it waits for a call that hangs; 0: as usual */
	char why[200];          /* "exit status 1", "killed by signal 11", "there is no compiler" */
};

/* Makes programs, simplest first, runs each on a freshly reset target and keeps the first that
 * shows the bug, or else the simplest. Ended early (until_seconds, or the run is stopped) it is as
 * far as it got. What the file system or the program does is no failure. */
int finding_prove(struct finding *f, struct target *t, double until_seconds, struct err *err);

/* One word for run.json: "shown", "not shown", "unknown", "not run". */
const char *program_proof_word(const struct program_proof *p);
/* A sentence for people. */
void program_proof_print(const struct program_proof *p, struct buf *out);

#endif
