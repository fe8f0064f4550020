/* reaper.c -- a program that ends, with everything it has started, at the latest when we do. */
#include "process/reaper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

enum { EXIT_NOT_RUN = 127, ROUND_USEC = 1000 };

/* The parent of a process, by the fourth field of its stat; the second is in brackets. */
static pid_t reaper_parent_of(const char *pid)
{
	char path[64], name[512];
	int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	for (char *end = name; (end = strchr(end, ')')); end++)
		sscanf(end, ") %*c %d", &parent);
	return parent;
}

/* Kills our children. Theirs become ours, and are killed in the next round. */
static void reaper_kill_children(void)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes)))
		if (atoi(entry->d_name) > 0 && reaper_parent_of(entry->d_name) == getpid())
			kill(atoi(entry->d_name), SIGKILL);
	if (processes)
		closedir(processes);
}

static _Noreturn void reaper_end_all(void)
{
	for (;;) {
		reaper_kill_children();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			_exit(EXIT_NOT_RUN);
		usleep(ROUND_USEC);
	}
}

/* In the program's process: signals and arguments as without a reaper. */
static _Noreturn void reaper_exec(char *const *arguments, const sigset_t *signals)
{
	sigprocmask(SIG_SETMASK, signals, NULL);
	execv(arguments[0], arguments);
	_exit(EXIT_NOT_RUN);
}

/* Waits until the program has ended, or we are not wanted any more; false then. */
static bool reaper_await(pid_t program, int alive_fd, int children_fd, int *ret_status)
{
	struct pollfd events[] = { { .fd = alive_fd, .events = POLLIN },
				   { .fd = children_fd, .events = POLLIN } };
	struct signalfd_siginfo info;
	pid_t ended;
	int status;

	while (poll(events, 2, -1) > 0 && !events[0].revents) {
		if (read(children_fd, &info, sizeof(info)) < 0)
			return false;
		while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
			if (ended != program)
				continue;
			*ret_status = status;
			return true;
		}
	}
	return false;
}

/* In the process between. Signals of the terminal reach the program by themselves. */
static _Noreturn void reaper_work(char *const *arguments, int alive_fd, int status_fd)
{
	sigset_t all, before;
	pid_t program;
	int children_fd, status;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	children_fd = signalfd(-1, &all, SFD_CLOEXEC);
	program = fork();
	if (!program)
		reaper_exec(arguments, &before);
	if (program > 0 && children_fd >= 0 &&
	    reaper_await(program, alive_fd, children_fd, &status) &&
	    write(status_fd, &status, sizeof(status)) < 0)
		_exit(EXIT_NOT_RUN);
	close(status_fd);
	reaper_end_all();
}

int reaper_run(char *const *arguments, int *ret_status, struct err *err)
{
	int alive[2], reported[2], status, r = 0;
	pid_t reaper;

	if (pipe2(alive, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	if (pipe2(reported, O_CLOEXEC)) {
		r = err_sys(err, errno, "cannot make a pipe");
		close(alive[0]);
		close(alive[1]);
		return r;
	}
	reaper = fork();
	if (!reaper) {
		close(alive[1]);
		close(reported[0]);
		reaper_work(arguments, alive[0], reported[1]);
	}
	close(alive[0]);
	close(reported[1]);
	if (reaper < 0)
		r = err_sys(err, errno, "cannot fork");
	else if (read(reported[0], &status, sizeof(status)) != sizeof(status))
		r = err_set(err, ECHILD, "%s was killed by another process", arguments[0]);
	else
		*ret_status = status;
	if (reaper > 0)
		waitpid(reaper, NULL, 0);
	close(alive[1]);
	close(reported[0]);
	return r;
}
