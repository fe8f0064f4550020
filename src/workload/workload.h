/* workload.h -- the calls of one crash test.
 *
 * A file with a workload is a script or trace (trace/script.h). Its calls are made one after the
 * other. What precedes a comment line "# run" is the setup; without such a line there is none. */
#ifndef WORKLOAD_WORKLOAD_H
#define WORKLOAD_WORKLOAD_H

#include "op/op.h"

struct arena;
struct buf;
struct err;

enum { WORKLOAD_CALLS_MAX = 1 << 16 };

struct workload {
	const char *name; /* "seq-1/197 link foo A/bar, fsync A/bar", or the file it is from */
	const struct call *calls;
	size_t count;
	size_t setup_count; /* how many of the calls, from the first on, are the setup */
};

/* A write to descriptor 1: what a program printed (reffs/record.h). */
bool call_prints(const struct call *c);
/* Its memory is of the arena. What a program printed is left out. */
int workload_read(struct workload *ret, const char *path, struct arena *arena, struct err *err);
/* The same with that. */
int workload_read_printed(struct workload *ret, const char *path, struct arena *arena,
			  struct err *err);
/* Calls without those in [from, from + window), to be freed, and how many of these are the setup.
 */
struct call *workload_without(const struct call *calls, size_t count, size_t from, size_t window,
			      size_t *setup_count);
/* As a file that workload_read() takes, with the name as a comment. */
void workload_print(const struct workload *w, struct buf *out);

#endif
