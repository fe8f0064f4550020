/* fsck_report.h -- a fault of a checker, for its maintainer: which bytes were changed, what it
 * said, the disk, and a script that shows it with the checker alone. */
#ifndef FSCK_FSCK_REPORT_H
#define FSCK_FSCK_REPORT_H

#include "fsck/fsck.h"
#include "run/run.h"

/* Once for each cause: shrinks it to the fewest bytes, has the script show it with the unmodified
 * program, and keeps it. */
int fsck_report(struct fsck_session *s, struct run *run, const struct fsck_test *t,
		struct err *err);

#endif
