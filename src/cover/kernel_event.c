/* kernel_event.c -- finding an event's number and opening it.
 *
 * tracefs has the numbers. It need not be mounted: it is mounted here, in a private namespace. */
#include "cover/kernel_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A mount of tracefs in no namespace, or -1. */
static int open_tracefs(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), dir = -1;

	if (context < 0)
		return -1;
	if (!fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		dir = fsmount(context, FSMOUNT_CLOEXEC, 0);
	close(context);
	return dir;
}

static long read_event_id(int dir, const char *name)
{
	char path[128], text[32] = "";
	int fd;
	ssize_t len = -1;

	snprintf(path, sizeof(path), "events/%s/id", name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	return len > 0 ? strtol(text, NULL, 10) : -1;
}

int kernel_event_open(const char *name)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	int dir = open_tracefs(), fd;
	long number = dir < 0 ? -1 : read_event_id(dir, name);

	if (dir >= 0)
		close(dir);
	if (number < 0)
		return -ENOENT;
	attr.config = (unsigned long long)number;
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
