/* cgroup.h -- a new control group for a command and all processes that it starts. */
#ifndef COVER_CGROUP_H
#define COVER_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup {
	char *path;  /* NULL where there is none */
	int fd;      /* the directory */
	uint64_t id; /* by which the kernel knows it */
	pid_t guard; /* removes it, also when we are killed */
	int guard_fd;
};

/* Makes one below our own, in the unified hierarchy; false where that cannot be done. */
bool cgroup_make(struct cgroup *g);
/* The calling process joins. */
bool cgroup_join(const struct cgroup *g);
/* Sends the signal to all that are in it. */
void cgroup_signal(const struct cgroup *g, int signal);
/* Who is still in it goes back to our own group; then it is removed. If we are killed before that,
 * all that are in it are, too. */
void cgroup_remove(struct cgroup *g);

#endif
