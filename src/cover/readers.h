/* readers.h -- coverage from traces that others have written.
 *
 * Each reads a stream to its end in bounded memory. What it does not know is counted in
 * coverage.unknown and passed over; where the trace was cut in the middle, all before the cut
 * counts and coverage.cut says so. */
#ifndef COVER_READERS_H
#define COVER_READERS_H

#include "cover/coverage.h"

struct err;

struct read_options {
	const char *const *mounts; /* none: everything counts */
	size_t mount_count;
	const char *cwd; /* where the traced command began; NULL: unknown */
};

struct trace_reader {
	const char *name; /* "strace" */
	int (*read)(struct coverage *c, const struct read_options *options, const char *path,
		    struct err *err);
};

extern const struct trace_reader readers[];

int read_strace(struct coverage *c, const struct read_options *options, const char *path,
		struct err *err);
/* The same from memory. */
void read_strace_text(struct coverage *c, const struct read_options *options, const char *text,
		      size_t len);
int read_ftrace(struct coverage *c, const struct read_options *options, const char *path,
		struct err *err);
int read_ctf(struct coverage *c, const struct read_options *options, const char *path,
	     struct err *err);
int read_native(struct coverage *c, const struct read_options *options, const char *path,
		struct err *err);

#endif
