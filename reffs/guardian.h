/* guardian.h -- a process that unmounts if the daemon was killed.
 *
 * Every call on a mount without its daemon returns ENOTCONN until the mount is removed. The
 * guardian waits for the daemon's end, however it comes; it takes no signal but SIGKILL, and does
 * nothing else. */
#ifndef REFFS_GUARDIAN_H
#define REFFS_GUARDIAN_H

#include <sys/types.h>

struct err;

struct guardian {
	pid_t pid;
	int pipe; /* its end is the daemon's end */
};

/* Before there are threads. The mount point is absolute. */
int guardian_start(struct guardian *g, const char *mountpoint, struct err *err);
/* The mount is ready: from now on the guardian unmounts it. */
void guardian_watch(const struct guardian *g, const char *mountpoint);
/* Nothing is left to be unmounted. */
void guardian_end(struct guardian *g);

#endif
