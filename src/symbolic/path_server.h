/* path_server.h -- a checker under the Valgrind tool (pathtool/), run again and again.
 *
 * The checker works on a copy of the disk, which is as at the beginning before every run. It ends,
 * with all its runs, when we do. */
#ifndef SYMBOLIC_PATH_SERVER_H
#define SYMBOLIC_PATH_SERVER_H

#include <stddef.h>

#include "symbolic/path_log.h"

struct buf;
struct err;
struct image;

struct path_server_options {
	const char *command; /* words; {image} is the disk */
	const struct image *disk;
	bool symbolic; /* values are followed; otherwise only branches are counted, which is faster
			*/
	double run_seconds; /* of a CPU; four times that of the clock */
};

struct path_run {
	int status;     /* as wait(2) gives it */
	bool timed_out; /* it was killed */
};

struct path_server;

/* Whether the tool is there; otherwise ret_missing says what to install. */
bool path_server_available(struct buf *ret_missing);
/* Starts the checker and waits until it reads the disk. *ret is NULL, and the answer 0, where it
 * ends without. The disk must stay as it is. */
int path_server_start(const struct path_server_options *o, struct path_server **ret,
		      struct err *err);
void path_server_stop(struct path_server *s);

/* Which bytes are symbolic in the runs to come: at most PATH_RANGES_MAX ranges on the disk. */
void path_server_set_ranges(struct path_server *s, const struct path_range *ranges, size_t count);
/* One run with these bytes in the ranges, one after the other. */
int path_server_run(struct path_server *s, const uint8_t *values, struct path_run *ret,
		    struct err *err);
/* Bytes anywhere on the disk, until the end of the next run: for runs that only count. */
void path_server_patch(struct path_server *s, uint64_t at, const void *bytes, size_t len);
/* What the last run logged, valid until the next. */
const struct path_log *path_server_log(const struct path_server *s);
/* Directions of conditional branches of the checker that any run so far has taken. */
uint64_t path_server_branches(const struct path_server *s);
/* CPU time of the checker so far, its start and all its runs. */
double path_server_cpu_seconds(const struct path_server *s);

#endif
