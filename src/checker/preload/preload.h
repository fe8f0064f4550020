/* preload.h -- inside the process of a checker: the disk in shared memory, and the server of runs.
 *
 * Loaded before the C library (LD_PRELOAD), so that the program's calls come here first. The
 * library is not told: what it calls within itself does not come here. */
#ifndef CHECKER_PRELOAD_PRELOAD_H
#define CHECKER_PRELOAD_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "control.h"

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/* NULL in a process that no session has started. */
extern struct control *preload_control;

/* The next definition of a function, as a rule that of the C library; found once. */
#define PRELOAD_NEXT(name) \
	({ \
		static __typeof__(&(name)) next; \
		if (!next) \
			next = (__typeof__(&(name)))preload_find(#name); \
		next; \
	})
void *preload_find(const char *name);

/* Stops at the first open of the disk; returns in a copy of the process, once for each run. */
void serve_runs(void);

/* Maps the disk at its first use. */
void disk_map(void);
/* As read(2) and write(2) do: bytes, or -1 and errno. */
ssize_t disk_read(uint64_t at, void *to, size_t len);
ssize_t disk_write(uint64_t at, const void *from, size_t len);
int disk_resize(uint64_t size);
/* From now on the program can write to it unseen. */
void disk_lose_sight(void);

#endif
