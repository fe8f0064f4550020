/* jobs.c -- processes of one command, each with its own directory. */
#include "cli/jobs.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "target/target.h"

enum { LOOK_MS = 1000, LOOK_OFTEN_MS = 50 }; /* how often it is looked whether we are to stop */

/* In the child. Its own process group: a signal of the terminal reaches it once, from us. A second
 * one would end it before its results are written. */
static _Noreturn void job_main(const struct job *job, unsigned number, const char *dir, int output,
			       pid_t parent)
{
	char path[PATH_MAX];
	struct err err = { 0 };
	int code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_UNKNOWN);
	snprintf(path, sizeof(path), "%.4000s/errors", dir);
	if (setpgid(0, 0) || !freopen("/dev/null", "r", stdin) ||
	    !freopen("/dev/null", "w", stdout) || (!job->speaks && !freopen(path, "w", stderr)) ||
	    (output >= 0 && dup2(output, STDOUT_FILENO) < 0))
		_exit(EXIT_UNKNOWN);
	code = job->work(job->to, number, dir, &err);
	if (err.code)
		fprintf(stderr, "%s\n", err.text);
	fflush(NULL);
	_exit(code);
}

/* output: what its standard output is, or -1 for none. */
static pid_t job_start_to(const struct job *job, unsigned number, const char *dir, int output,
			  struct err *err)
{
	pid_t pid, parent = getpid();

	if (mkdir(dir, 0755) && errno != EEXIST)
		return err_sys(err, errno, "cannot make the directory %s", dir);
	fflush(NULL);
	terminal_listen();
	pid = fork();
	if (!pid)
		job_main(job, number, dir, output, parent);
	return pid < 0 ? err_sys(err, errno, "cannot start job %u", number) : pid;
}

pid_t job_start(const struct job *job, unsigned number, const char *dir, struct err *err)
{
	return job_start_to(job, number, dir, -1, err);
}

/* True once it has ended; else some time or a signal has passed. Without a descriptor of it we look
 * more often. */
static bool job_has_ended(pid_t pid, int pidfd, int *ret_status)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	bool has_ended;

	poll(&ended, 1, pidfd < 0 ? LOOK_OFTEN_MS : LOOK_MS);
	has_ended = waitpid(pid, ret_status, WNOHANG) != 0;
	terminal_hear(); /* also what it said last */
	return has_ended;
}

/* As of waitpid(2). */
static int job_await_status(pid_t pid, double seconds)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), status = -1;
	double start = clock_seconds();
	bool asked = false;

	while (!job_has_ended(pid, pidfd, &status)) {
		double passed = clock_seconds() - start;

		if (seconds > 0 && passed > 2 * seconds)
			kill(pid, SIGKILL);
		else if (!asked && (stop_requested || (seconds > 0 && passed > seconds)))
			asked = !kill(pid, SIGTERM);
	}
	if (pidfd >= 0)
		close(pidfd);
	return status;
}

int job_await(pid_t pid, double seconds)
{
	int status = job_await_status(pid, seconds);

	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_UNKNOWN;
}

unsigned jobs_wanted(unsigned wanted)
{
	cpu_set_t set;
	int count;

	if (wanted)
		return wanted;
	count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
	return count < 1 ? 1 : count > JOBS_MAX ? JOBS_MAX : (unsigned)count;
}

unsigned jobs_on(const char *target, const char *config, unsigned wanted)
{
	wanted = jobs_wanted(wanted);
	return wanted > 1 && target_is_single(target, config) ? 1 : wanted;
}

static json_int_t figure_of(const json_t *o, const char *name)
{
	return json_integer_value(json_object_get(o, name));
}

int job_merge(struct run *run, unsigned job, json_t **ret_summary, struct err *err)
{
	char path[PATH_MAX], subdir[32];
	json_t *printed = json_array_get(run->job_summaries, job);

	snprintf(subdir, sizeof(subdir), "job-%u", job);
	snprintf(path, sizeof(path), "%.4000s/%s/run.json", run->dir, subdir);
	*ret_summary =
		json_is_object(printed) ? json_incref(printed) : json_load_file(path, 0, NULL);
	if (!*ret_summary)
		return err_set(err, EINVAL, "%s: cannot be read", path);
	run_merge(run, *ret_summary, subdir);
	return 0;
}

void job_add_figures(struct run *run, const json_t *summary, const char *const *figures)
{
	for (; *figures; figures++)
		json_object_set_new(run->figures, *figures,
				    json_integer(figure_of(run->figures, *figures) +
						 figure_of(summary, *figures)));
}

/* Exit status 2 (could not tell) is no failure of the job, unless it has an error message. */
static bool has_failed(int code, const char *dir)
{
	char path[PATH_MAX];
	struct stat st;

	if (code == EXIT_CLEAN || code == EXIT_FINDINGS)
		return false;
	snprintf(path, sizeof(path), "%.4000s/errors", dir);
	return code != EXIT_UNKNOWN || stat(path, &st) || st.st_size;
}

/* Its own words, if it had any. */
static int job_failure(const char *dir, struct err *err)
{
	char path[PATH_MAX], line[512];
	FILE *file;
	bool told;

	snprintf(path, sizeof(path), "%.4000s/errors", dir);
	file = fopen(path, "re");
	told = file && fgets(line, sizeof(line), file);
	if (file)
		fclose(file);
	if (!told)
		return err_set(err, ECHILD, "a job failed; see %s", path);
	line[strcspn(line, "\n")] = 0;
	return err_set(err, ECHILD, "%s", line);
}

/* The summary that a job has printed; null where there is none. The descriptor is closed. */
static json_t *job_printed(int output)
{
	json_t *summary = NULL;

	if (output >= 0) {
		lseek(output, 0, SEEK_SET);
		summary = json_loadfd(output, JSON_DISABLE_EOF_CHECK, NULL);
		close(output);
	}
	return summary ? summary : json_null();
}

struct running_job {
	pid_t pid;
	int output; /* in memory: a full disk does not keep the result from us */
};

static int running_job_start(struct running_job *r, const struct job *job, unsigned number,
			     const char *dir, struct err *err)
{
	r->output = memfd_create("assay-job", MFD_CLOEXEC);
	r->pid = job_start_to(job, number, dir, r->output, err);
	if (r->pid < 0)
		close(r->output);
	return r->pid < 0 ? r->pid : 0;
}

int job_run(const struct job *job, unsigned number, const char *dir, json_t **ret_summary,
	    struct err *err)
{
	struct running_job r;
	int status = running_job_start(&r, job, number, dir, err), end;
	json_t *printed;

	if (status)
		return status;
	end = job_await_status(r.pid, 0);
	printed = job_printed(r.output);
	if (WIFEXITED(end) && has_failed(WEXITSTATUS(end), dir))
		status = job_failure(dir, err);
	if (!status && WIFEXITED(end) && json_is_object(printed))
		*ret_summary = json_incref(printed);
	else if (!status)
		*ret_summary = NULL;
	json_decref(printed);
	return status;
}

static int jobs_await(struct run *run, const struct running_job *jobs, unsigned count,
		      struct err *err)
{
	char dir[PATH_MAX];
	int status = 0;

	run->job_summaries = json_array();
	for (unsigned i = 0; i < count; i++) {
		int code = job_await(jobs[i].pid, 0);

		json_array_append_new(run->job_summaries, job_printed(jobs[i].output));
		snprintf(dir, sizeof(dir), "%s/job-%u", run->dir, i);
		if (has_failed(code, dir) && !status)
			status = job_failure(dir, err);
	}
	return status;
}

int jobs_run(struct run *run, unsigned count, const struct job *job, struct err *err)
{
	struct running_job *jobs = must_alloc(count * sizeof(*jobs));
	char dir[PATH_MAX];
	int status = 0, awaited;
	unsigned started = 0;

	for (; started < count && !status; started++) {
		snprintf(dir, sizeof(dir), "%s/job-%u", run->dir, started);
		status = running_job_start(&jobs[started], job, started, dir, err);
	}
	started -= status < 0;
	awaited = jobs_await(run, jobs, started, err);
	free(jobs);
	return status ? status : awaited;
}

/* ---- together ---- */

enum { TOGETHER_LOOK_MS = 100 };

struct together {
	const struct run *run;
	const struct job *job;
	const struct job_care *care;
	struct together_child {
		pid_t pid; /* 0: it has ended */
		int pidfd;
		unsigned number;
	} * children;
	size_t count;
	unsigned living;
	bool asked; /* to end */
	int status;
};

static void together_start(struct together *t, unsigned number, struct err *err)
{
	struct together_child *c;
	char dir[PATH_MAX];
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/job-%u", t->run->dir, number);
	pid = job_start(t->job, number, dir, err);
	if (pid < 0) {
		t->status = pid;
		return;
	}
	t->children = must_realloc(t->children, (t->count + 1) * sizeof(*t->children));
	c = &t->children[t->count++];
	*c = (struct together_child){ .pid = pid, .number = number };
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	t->living++;
}

static void together_ask_to_end(struct together *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->children[i].pid)
			kill(t->children[i].pid, SIGTERM);
	t->asked = true;
}

static void together_killed(struct together *t, unsigned number, struct err *err)
{
	int next = t->care->killed(t->care->to, number);

	if (next >= 0 && !t->asked)
		together_start(t, (unsigned)next, err);
	if (!t->living && !t->status && next != JOB_NONE && !t->asked)
		t->status = err_set(err, ECHILD, "all jobs were killed; see %s/job-%u/errors",
				    t->run->dir, number);
}

static void together_ended(struct together *t, unsigned number, int wait_status, struct err *err)
{
	char dir[PATH_MAX];
	bool failed;

	t->living--;
	if (!WIFEXITED(wait_status)) {
		together_killed(t, number, err);
		return;
	}
	snprintf(dir, sizeof(dir), "%s/job-%u", t->run->dir, number);
	failed = has_failed(WEXITSTATUS(wait_status), dir);
	if (failed && !t->status)
		t->status = job_failure(dir, err);
	t->care->ended(t->care->to, number, WEXITSTATUS(wait_status), failed);
}

/* Some time passes, or one ends. */
static void together_await(const struct together *t)
{
	struct pollfd *fds = must_alloc(t->count * sizeof(*fds));

	for (size_t i = 0; i < t->count; i++)
		fds[i] = (struct pollfd){ .fd = t->children[i].pid ? t->children[i].pidfd : -1,
					  .events = POLLIN };
	poll(fds, t->count, TOGETHER_LOOK_MS);
	free(fds);
}

static void together_reap(struct together *t, struct err *err)
{
	int wait_status;

	/* The list may grow meanwhile. */
	for (size_t i = 0; i < t->count; i++) {
		struct together_child c = t->children[i];

		if (!c.pid || waitpid(c.pid, &wait_status, WNOHANG) == 0)
			continue;
		t->children[i].pid = 0;
		if (c.pidfd >= 0)
			close(c.pidfd);
		together_ended(t, c.number, wait_status, err);
	}
}

int jobs_run_together(const struct run *run, unsigned count, const struct job *job,
		      const struct job_care *care, struct err *err)
{
	struct together t = { .run = run, .job = job, .care = care };

	for (unsigned i = 0; i < count && !t.status; i++)
		together_start(&t, i, err);
	while (t.living) {
		together_await(&t);
		together_reap(&t, err);
		terminal_hear();
		if (!t.asked && (care->look(care->to) || stop_requested))
			together_ask_to_end(&t);
	}
	free(t.children);
	return t.status;
}
