/* attribution.h -- whose a complaint of the kernel's is.
 *
 * The log is the whole machine's. A complaint is ours where it names one of our disks; where one
 * of our processes was running (but for an interrupt, which runs on anybody's time); or where
 * nobody's process was running, a kernel thread's say, in the code of a file system that nobody
 * but us has mounted. All else is somebody else's. */
#ifndef JUDGE_ATTRIBUTION_H
#define JUDGE_ATTRIBUTION_H

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
	char comm[16]; /* name of our processes; "": they have none of their own */
	pid_t *pids;   /* of our processes, as the kernel counts them */
	size_t pid_count;
	struct buf devices; /* words for our disks, each with a NUL: "loop3", "flush-7:3" */
	const char *fs;     /* the file system as mount calls it; NULL: not known */
	bool alone;         /* nobody else has one of its kind mounted */
};

enum attribution attribution_of(const struct kernel_ours *ours, enum kernel_alarm alarm,
				const char *text);

#endif
