/* proof.h -- what the C program of a finding has shown. */
#ifndef FINDING_PROOF_H
#define FINDING_PROOF_H

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
	PROOF_UNKNOWN, /* with 2, or in a way that shows nothing: it cannot tell */
	PROOF_NOT_RUN, /* and why says the reason */
};

struct program_proof {
	enum proof_end end;
	enum repro_watch watch; /* how the program that is written out watches */
	unsigned wait_seconds;  /* how long it waits for a call that hangs; 0: as usual */
	char why[200];          /* "exit status 1", "killed by signal 11", "there is no compiler" */
};

#endif
