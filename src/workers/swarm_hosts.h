/* swarm_hosts.h -- workers of a swarm on other machines, started by ssh. */
#ifndef WORKERS_SWARM_HOSTS_H
#define WORKERS_SWARM_HOSTS_H

#include <stddef.h>
#include <sys/types.h>

struct err;

enum { SWARM_HOSTS_MAX = 4096 };

struct swarm_hosts {
	pid_t pids[SWARM_HOSTS_MAX];
	size_t count;
};

/* One for each line HOST [JOBS [PROGRAM]] of the file: `PROGRAM swarm work` with these options. */
int swarm_hosts_start(struct swarm_hosts *h, const char *file, const char *url, const char *options,
		      struct err *err);
/* Waits for all of them. */
void swarm_hosts_await(const struct swarm_hosts *h, const char *file);

#endif
