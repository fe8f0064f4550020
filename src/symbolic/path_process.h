/* path_process.h -- explorations of paths (paths.h) in a separate process.
 *
 * The solver has threads, and no process with threads can be forked safely; nor is its memory ours
 * to lose. While the paths are looked for there, what was found is used here. The checker is
 * started once for all explorations. */
#ifndef SYMBOLIC_PATH_PROCESS_H
#define SYMBOLIC_PATH_PROCESS_H

#include "symbolic/paths.h"

struct path_process;

/* As paths_session_open(); nothing is started before the first exploration. */
struct path_process *path_process_open(const char *command, const struct image *disk,
				       double run_seconds);
void path_process_close(struct path_process *p);

/* As paths_explore(), with no session in the options. */
int path_process_explore(struct path_process *p, const struct paths_options *o,
			 bool (*found)(void *to, const uint8_t *values, struct hash path), void *to,
			 struct paths_result *ret, struct err *err);

#endif
