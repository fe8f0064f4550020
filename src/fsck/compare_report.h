/* compare_report.h -- a file that one checker loses and another keeps, for the maintainer of the
 * first. */
#ifndef FSCK_COMPARE_REPORT_H
#define FSCK_COMPARE_REPORT_H

#include "fsck/compare.h"
#include "run/run.h"

/* Once for each field: with the disks of both, and a script that shows it again. field: what was
 * damaged. There is a loser. */
int compare_report(struct checker_comparison *c, struct run *run, const struct compared *x,
		   const char *field, struct err *err);

#endif
