/* debugger.c -- gdb at the user's terminal, on a process of ours. */
#include "process/debugger.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

enum { LOOK_MS = 20 };

/* gdb reads its commands from memory that only it has open. */
static int debugger_commands(const char *text)
{
	int fd = memfd_create("assay-gdb", 0);
	size_t len = strlen(text);

	if (fd >= 0 && write(fd, text, len) != (ssize_t)len) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static bool debugger_holds(pid_t debugger, pid_t pid)
{
	char path[64], line[256];
	long tracer = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %ld", &tracer);
	if (f)
		fclose(f);
	return tracer == debugger;
}

int debugger_start(pid_t *ret, const char *program, pid_t pid, const char *commands,
		   struct err *err)
{
	const struct timespec look = { 0, LOOK_MS * 1000000L };
	char number[32], script[64];
	int fd = debugger_commands(commands);
	pid_t debugger;

	if (fd < 0)
		return err_sys(err, errno, "cannot pass commands to gdb");
	snprintf(number, sizeof(number), "%ld", (long)pid);
	snprintf(script, sizeof(script), "/proc/self/fd/%d", fd);
	fflush(NULL);
	debugger = fork();
	if (!debugger) {
		execlp("gdb", "gdb", "-q", program, "-p", number, "-x", script, (char *)NULL);
		_exit(127);
	}
	close(fd);
	if (debugger < 0)
		return err_sys(err, errno, "cannot start gdb");
	while (!debugger_holds(debugger, pid)) {
		if (waitpid(debugger, NULL, WNOHANG) == debugger)
			return err_set(err, ENOENT,
				       "gdb is not installed, or may not attach to "
				       "processes here");
		nanosleep(&look, NULL);
	}
	*ret = debugger;
	return 0;
}

void debugger_finish(pid_t debugger, pid_t pid)
{
	if (debugger_holds(debugger, pid))
		kill(pid, SIGINT); /* gdb takes it, and has its prompt again */
	while (waitpid(debugger, NULL, 0) < 0 && errno == EINTR)
		;
}
