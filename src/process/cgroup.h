/* cgroup.h -- a new control group for a command and all processes that it starts.
 *
 * It ends with us, however we end. */
#ifndef PROCESS_CGROUP_H
#define PROCESS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup {
	char *path;  /* NULL where there is none */
	int fd;      /* the directory */
	uint64_t id; /* by which the kernel knows it */
	pid_t guard; /* removes it, also when we are killed */
	int guard_fd;
	int64_t patience_ms;
};

/* Makes one below our own, in the unified hierarchy; false where that cannot be done. If we are
 * killed, all that are in it get so long to end by themselves, and are killed then. */
bool cgroup_make(struct cgroup *g, const char *purpose, int64_t patience_ms);
/* The calling process joins. */
bool cgroup_join(const struct cgroup *g);
/* Together they use no more memory than that; false where the hierarchy does not count memory. */
bool cgroup_bound_memory(const struct cgroup *g, uint64_t bytes);
/* Sends the signal to all that are in it. */
void cgroup_signal(const struct cgroup *g, int signal);
/* Who is still in it goes back to our own group; then it is removed. */
void cgroup_remove(struct cgroup *g);

#endif
