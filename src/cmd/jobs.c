/* jobs.c -- several processes of one command, each with a directory of its own. */
#include "cmd/jobs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "cmd/command.h"

/* In the child: what it says goes to its directory. */
static _Noreturn void run_job(const struct run *run, unsigned number,
			      int (*job)(void *, unsigned, const char *, struct err *), void *to)
{
	char dir[PATH_MAX], path[PATH_MAX];
	struct err err = { 0 };
	int code;

	snprintf(dir, sizeof(dir), "%s/job-%u", run->dir, number);
	if (mkdir(dir, 0755) && errno != EEXIST)
		_exit(EXIT_UNKNOWN);
	snprintf(path, sizeof(path), "%.4000s/errors", dir);
	if (!freopen("/dev/null", "w", stdout) || !freopen(path, "w", stderr))
		_exit(EXIT_UNKNOWN);
	code = job(to, number, dir, &err);
	if (err.code)
		fprintf(stderr, "%s\n", err.text);
	fflush(NULL);
	_exit(code);
}

static int await(pid_t child, const pid_t *all, unsigned count)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		must(errno == EINTR);
		for (unsigned i = 0; run_stop && i < count; i++)
			kill(all[i], SIGTERM);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_UNKNOWN;
}

int jobs_run(const struct run *run, unsigned count,
	     int (*job)(void *to, unsigned number, const char *dir, struct err *err), void *to,
	     struct err *err)
{
	pid_t *children = must_alloc(count * sizeof(*children));
	int status = 0, code;
	unsigned started = 0;

	fflush(NULL);
	for (; started < count; started++) {
		children[started] = fork();
		if (!children[started])
			run_job(run, started, job, to);
		if (children[started] < 0) {
			status = err_sys(err, errno, "cannot start job %u", started);
			break;
		}
	}
	for (unsigned i = 0; i < started; i++) {
		code = await(children[i], children, started);
		if (code != EXIT_CLEAN && code != EXIT_FINDINGS)
			status = err_set(err, ECHILD, "a job failed; see %s/job-%u/errors",
					 run->dir, i);
	}
	free(children);
	return status;
}
