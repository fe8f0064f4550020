/* path_process.h -- paths_explore() in a process of its own.
 *
 * The solver has threads, and no process with threads can be forked safely; nor is its memory ours
 * to lose. While the paths are looked for there, what was found is used here. */
#ifndef SYMBOLIC_PATH_PROCESS_H
#define SYMBOLIC_PATH_PROCESS_H

#include "symbolic/paths.h"

int paths_explore_apart(const struct paths_options *o,
			bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
			struct paths_result *ret, struct err *err);

#endif
