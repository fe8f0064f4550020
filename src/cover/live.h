/* live.h -- coverage of a running command, counted by a tracer in the kernel. */
#ifndef COVER_LIVE_H
#define COVER_LIVE_H

#include "cover/coverage.h"

struct err;

struct live_options {
	const char *const *mounts; /* mount points, at most TRACE_MOUNTS */
	size_t mount_count;
	char *const *command;  /* NULL-terminated */
	bool output_to_stderr; /* the command's, so that ours stays alone on stdout */
};

/* Why this machine, or this build, cannot trace: "" where it can. */
const char *live_missing(void);

/* Runs the command to its end and counts what it, and all it starts, do on the mounts. *ret_status
 * is as wait(2) gives it. */
int live_trace(struct coverage *c, const struct live_options *options, int *ret_status,
	       struct err *err);

#endif
