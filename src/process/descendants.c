/* descendants.c -- all processes that a process has started, and those have, as /proc shows them.
 */
#include "process/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

enum { STAT_MAX = 4096 };

static bool has_pid(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* The name, in brackets, may contain anything; the parent is the second field behind it. */
static pid_t parent_of(int proc_fd, const char *pid)
{
	char path[300];
	struct buf text = BUF_INIT;
	const char *rest;
	pid_t parent = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/stat", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!buf_read_fd(&text, fd, STAT_MAX, NULL) && (rest = strrchr(buf_str(&text), ')')) &&
	    strlen(rest) > 4)
		parent = (pid_t)strtol(rest + 4, NULL, 10);
	buf_free(&text);
	close(fd);
	return parent;
}

/* One pass over all processes: parents may stand behind their children. */
static size_t add_children(int proc_fd, pid_t *pids, size_t count, size_t max)
{
	int fd = openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && count < max && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && !has_pid(pids, count, pid) &&
		    has_pid(pids, count, parent_of(proc_fd, entry->d_name)))
			pids[count++] = pid;
	}
	if (dir)
		closedir(dir);
	return count;
}

size_t descendants_add(int proc_fd, pid_t *pids, size_t count, size_t max)
{
	size_t before;

	do {
		before = count;
		count = add_children(proc_fd, pids, count, max);
	} while (count > before);
	return count;
}
