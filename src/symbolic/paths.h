/* paths.h -- all paths of an unmodified checker over chosen bytes of a disk.
 *
 * The checker runs under the Valgrind tool (pathtool/), which logs what its branches depended on;
 * Z3 finds bytes that take the other direction of each. Text that the checker prints is no path:
 * comparisons inside printf() and its like are left out. */
#ifndef SYMBOLIC_PATHS_H
#define SYMBOLIC_PATHS_H

#include "base/buf.h"
#include "base/hash.h"
#include "symbolic/path_log.h"

struct err;
struct image;

/* A checker that is started once for many explorations of one disk. */
struct paths_session;

struct paths_options {
	struct paths_session *session;
	const struct path_range
		*ranges; /* the symbolic bytes: at least one, PATH_INPUTS_MAX in all */
	size_t range_count;
	/* Values to begin with, besides those on the disk: seed_count times as many bytes as the
	 * ranges have. */
	const uint8_t *seeds;
	size_t seed_count;
	double seconds;     /* of the clock; 0: no limit */
	uint64_t paths_max; /* 0: no limit */
};

struct paths_result {
	uint64_t paths;     /* that were delivered */
	uint64_t runs;      /* of the checker under the tool */
	uint64_t left;      /* inputs that were not run */
	uint64_t branches;  /* directions of the checker's conditional branches that were taken */
	uint64_t questions; /* to the solver */
	bool complete;      /* there is no other path */
	struct buf why_not; /* otherwise: reasons, separated by "; " */
	double cpu_seconds; /* of the checker under the tool, and of ours */
};
void paths_result_free(struct paths_result *r);

/* Whether the tool is there; otherwise ret_missing says what to install. */
bool paths_available(struct buf *ret_missing);

/* The command is words, where {image} is the disk, which stays as it is. run_seconds: of a CPU, for
 * one run; 0: the default. */
struct paths_session *paths_session_open(const char *command, const struct image *disk,
					 double run_seconds);
void paths_session_close(struct paths_session *s);
/* Directions of the checker's conditional branches that were taken in all its explorations. */
uint64_t paths_session_branches(const struct paths_session *s);

/* Calls `found` for every path, with bytes that take it; false: stop. */
int paths_explore(const struct paths_options *o,
		  bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
		  struct paths_result *ret, struct err *err);

#endif
