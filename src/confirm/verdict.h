/* verdict.h -- what the console of a guest says about the reproducer that ran there. */
#ifndef CONFIRM_VERDICT_H
#define CONFIRM_VERDICT_H

#include <stdbool.h>

#include "base/buf.h"
#include "judge/problem.h"

struct boot_report;

enum confirm_end {
	CONFIRM_SHOWN,   /* the reproducer says that the bug shows */
	CONFIRM_ABSENT,  /* or that it does not */
	CONFIRM_PANIC,   /* the kernel panicked while it ran */
	CONFIRM_OOPS,    /* or complained of its bug, and the reproducer showed nothing */
	CONFIRM_HANG,    /* it did not end in time */
	CONFIRM_LACKING, /* the kernel has no such file system */
	CONFIRM_UNKNOWN, /* and why says the reason */
	CONFIRM_ENDS
};
extern const char *const confirm_end_names[CONFIRM_ENDS]; /* "shown", "not shown", ... */

struct confirm_verdict {
	enum confirm_end end;
	bool shows;        /* the finding: so it does if it is a hang, and this is one */
	struct buf kernel; /* "Linux 6.1.0-54-amd64 (Debian 6.1.190-1)"; empty: it did not start */
	struct buf why;    /* one line */
	struct buf last;   /* the last lines of the console */
};

void verdict_read(const struct boot_report *boot, enum problem problem,
		  struct confirm_verdict *ret);
void verdict_free(struct confirm_verdict *v);

#endif
