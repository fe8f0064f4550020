/* kernel_report.h -- a damaged disk that is bad for the kernel, for its developers. */
#ifndef FSCK_KERNEL_REPORT_H
#define FSCK_KERNEL_REPORT_H

#include "fsck/kernel_checker.h"
#include "run/run.h"

/* Once for each cause: with the fewest bytes, and kept where a kernel that was started again shows
 * it again. */
int kernel_report(struct kernel_checker *k, struct run *run, const struct kernel_test *t,
		  struct err *err);

#endif
