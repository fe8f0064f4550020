/* sandbox_process.h -- for tests that do something to the processes of a target from outside. */
#ifndef TESTS_KEEPER_PROCESS_H
#define TESTS_KEEPER_PROCESS_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "process/descendants.h"
#include "sandbox/sandbox.h"
#include "tests/harness/unit.h"

enum { BELOW_US_MAX = 64 };

static inline bool is_keepers(int proc_fd, pid_t pid)
{
	char own[SANDBOX_COMM_MAX], comm[SANDBOX_COMM_MAX], path[32];
	ssize_t n;
	int fd;

	sandbox_comm(own);
	snprintf(path, sizeof(path), "%d/comm", (int)pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, comm, sizeof(comm));
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(own) + 1 && !memcmp(comm, own, strlen(own));
}

/* The processes below us, parents first, that bear the sandbox's name, or those that do not. */
static inline size_t processes_below(bool sandboxes, pid_t ret[BELOW_US_MAX])
{
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	pid_t all[BELOW_US_MAX] = { getpid() };
	size_t count = descendants_add(proc_fd, all, 1, BELOW_US_MAX), chosen = 0;

	for (size_t i = 1; i < count; i++)
		if (is_keepers(proc_fd, all[i]) == sandboxes)
			ret[chosen++] = all[i];
	close(proc_fd);
	return chosen;
}

/* The process that makes the calls of the only target there is. */
static inline pid_t sandbox_server(void)
{
	pid_t pids[BELOW_US_MAX];

	assert_true(processes_below(true, pids) >= 2);
	return pids[1];
}

#endif
