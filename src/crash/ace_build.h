/* ace_build.h -- from operations to calls: what they depend on, the calls, what persists them.
 *
 * Every call succeeds on a file system with all features. A file stays open from its first use
 * until it is renamed or unlinked, or the workload ends, since closing it writes back data on some
 * file systems. Dependencies that can lie in the past are made by the setup, which ends with sync;
 * the others directly before the operation. */
#ifndef CRASH_ACE_BUILD_H
#define CRASH_ACE_BUILD_H

#include "crash/ace_table.h"
#include "crash/ace_values.h"

struct arena;
struct buf;
struct workload;

enum { ACE_LENGTH_MAX = 3 };

/* What follows an operation: fsync of a path (a number of enum ace_path), or one of these. */
enum { ACE_SYNC = ACE_PATHS, ACE_NOTHING };

struct ace_step {
	struct ace_use use;
	unsigned persist;
};

struct ace_skeleton {
	struct ace_step steps[ACE_LENGTH_MAX];
	unsigned length;
	bool in_place; /* no setup: all dependencies directly before the operation */
};

/* All of the workload but its name; adds what it does to `name`: "link foo bar, fsync foo". */
void ace_build(const struct ace_skeleton *skeleton, struct ace_values *values, struct arena *arena,
	       struct buf *name, struct workload *ret);

#endif
