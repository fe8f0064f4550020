/* attribution.h -- whether a complaint in the kernel log is about this run.
 *
 * The log is that of the whole machine. A complaint is ours where it names one of our disks; where
 * one of our processes was running (except in an interrupt, which may interrupt any process); or
 * where a kernel thread was running code of a file system that only we have mounted. All other
 * complaints are about other processes. */
#ifndef RUN_ATTRIBUTION_H
#define RUN_ATTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "judge/kernel_log.h"

enum attribution {
	ATTRIBUTION_NONE,
	ATTRIBUTION_DEVICE,
	ATTRIBUTION_PROCESS,
	ATTRIBUTION_CODE,
};

/* What a complaint may name of ours. */
struct kernel_ours {
	char comm[16]; /* name of our processes; "": they have no special name */
	pid_t *pids;   /* of our processes, as the kernel counts them */
	size_t pid_count;
	struct buf devices; /* words for our disks, each with a NUL: "loop3", "flush-7:3" */
	const char *fs;     /* the file system as mount calls it; NULL: not known */
	bool alone;         /* no other process has one of its kind mounted */
};

enum attribution attribution_of(const struct kernel_ours *ours, enum kernel_alarm alarm,
				const char *text);

#endif
