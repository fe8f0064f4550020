/* live.h -- coverage of a running command, counted by a tracer in the kernel. */
#ifndef COVER_LIVE_H
#define COVER_LIVE_H

#include <signal.h>

#include "cover/coverage.h"

struct err;

/* How calls on paths are attributed. */
enum live_paths {
	LIVE_PATHS_AUTO,  /* by walks where they can be seen, else by names */
	LIVE_PATHS_WALKS, /* where the kernel's own walk ended */
	LIVE_PATHS_NAMES, /* by the names in the path */
};

struct live_options {
	/* Mount points, at most TRACE_MOUNTS. A directory that is none means the file system it
	 * lies in. */
	const char *const *mounts;
	size_t mount_count;
	char *const *command;  /* NULL-terminated */
	bool output_to_stderr; /* the command's, so that ours stays alone on stdout */
	enum live_paths paths;
	/* A signal that asks for the end, or 0: it is passed on to the command, and when that has
	 * ended, so has all it started. NULL: there is none. */
	const volatile sig_atomic_t *stop;
};

/* What does without the tracer. */
#define LIVE_INSTEAD \
	"`strace -f -y -s 0 -o FILE COMMAND` records what `assay cover --read strace FILE` counts"

/* Why this machine, or this build, cannot trace: "" where it can. */
const char *live_missing(void);

/* Runs the command to its end and counts what it, and all it starts, do on the mounts. *ret_status
 * is as wait(2) gives it. */
int live_trace(struct coverage *c, const struct live_options *options, int *ret_status,
	       struct err *err);

#endif
