/* patience.c -- whether a process that does not answer hangs, or was not allowed to run. */
#include "sandbox/patience.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "process/descendants.h"

enum {
	TASKS_MAX = 256,
	TEXT_MAX = 4096,
	STARVED_FACTOR = 10, /* so much longer than the limit it may take in all */
	STARVED_S = 60,      /* and so many seconds */
};

/* Who looks more seldom was stopped or starved itself. */
static const int64_t look_max_ns = NS_PER_S / 4;

static int proc_fd = -1;

struct task_survey {
	bool stopped;  /* a process of ours is: another process did that */
	bool runnable; /* one could work now */
	uint64_t run_ns;
};

void patience_prepare(void)
{
	if (proc_fd < 0)
		proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void patience_begin(struct patience *p, pid_t pid, int64_t limit_ns)
{
	int64_t now = clock_ns();

	patience_prepare();
	*p = (struct patience){ .pid = pid, .limit_ns = limit_ns, .begin_ns = now, .look_ns = now };
}

static bool patience_read_proc(const char *path, struct buf *out)
{
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	bool ok;

	buf_clear(out);
	if (fd < 0)
		return false;
	ok = !buf_read_fd(out, fd, TEXT_MAX, NULL) && out->len;
	close(fd);
	return ok;
}

/* As that /proc numbers it, which may be another namespace's; 0: not to be seen there. */
static pid_t pid_in_proc(pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct buf text = BUF_INIT;
	const char *line = NULL;
	char path[48];
	pid_t seen = 0;

	snprintf(path, sizeof(path), "self/fdinfo/%d", pidfd);
	if (pidfd >= 0 && patience_read_proc(path, &text))
		line = strstr(text.data, "Pid:");
	if (line)
		seen = (pid_t)strtol(line + strlen("Pid:"), NULL, 10);
	if (pidfd >= 0)
		close(pidfd);
	buf_free(&text);
	return seen > 0 ? seen : 0;
}

/* Programs of others stop themselves, which is a way to hang. */
static bool is_our_program(pid_t pid)
{
	char path[32];
	struct stat theirs, ours;

	snprintf(path, sizeof(path), "%d/exe", (int)pid);
	return !fstatat(proc_fd, path, &theirs, 0) && !fstatat(proc_fd, "self/exe", &ours, 0) &&
	       theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino;
}

static void survey_task(pid_t pid, const char *task, struct task_survey *ret)
{
	struct buf text = BUF_INIT;
	const char *name_end;
	char path[300];

	snprintf(path, sizeof(path), "%d/task/%s/stat", (int)pid, task);
	if (patience_read_proc(path, &text) && (name_end = strrchr(text.data, ')')) &&
	    name_end[1]) {
		ret->runnable |= name_end[2] == 'R';
		ret->stopped |= strchr("Tt", name_end[2]) && is_our_program(pid);
	}
	snprintf(path, sizeof(path), "%d/task/%s/schedstat", (int)pid, task);
	if (patience_read_proc(path, &text))
		ret->run_ns += strtoull(text.data, NULL, 10);
	buf_free(&text);
}

static void survey_process(pid_t pid, struct task_survey *ret)
{
	char path[32];
	struct dirent *entry;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%d/task", (int)pid);
	fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.')
			survey_task(pid, entry->d_name, ret);
	if (dir)
		closedir(dir);
}

static bool survey_all(pid_t pid, struct task_survey *ret)
{
	pid_t pids[TASKS_MAX] = { pid_in_proc(pid) };
	size_t count = pids[0] ? descendants_add(proc_fd, pids, 1, TASKS_MAX) : 0;

	for (size_t i = 0; i < count; i++)
		survey_process(pids[i], ret);
	return ret->run_ns;
}

/* CPUs for each process that wants one now, at most 1: "0.20 0.18 0.12 3/321 1234". */
static double share_of_cpu(void)
{
	struct buf text = BUF_INIT;
	const char *running = NULL;
	double share = 1, wanting, cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (patience_read_proc("loadavg", &text))
		running = strchr(text.data, '/');
	while (running && running > text.data && running[-1] != ' ')
		running--;
	wanting = running ? strtod(running, NULL) : 0;
	if (wanting > cpus && cpus > 0)
		share = cpus / wanting;
	buf_free(&text);
	return share;
}

/* How much of the time since the last look counts. */
static int64_t patience_counts_ns(struct patience *p, int64_t passed_ns)
{
	struct task_survey tasks = { 0 };
	uint64_t before_ns = p->run_ns;

	if (p->counted_ns < NS_PER_S || proc_fd < 0 || !survey_all(p->pid, &tasks))
		return passed_ns;
	p->run_ns = tasks.run_ns;
	if (tasks.stopped)
		return 0;
	if (!tasks.runnable)
		return (int64_t)((double)passed_ns * share_of_cpu());
	/* What is runnable, and does not run, waits for a CPU. */
	if (before_ns && tasks.run_ns >= before_ns &&
	    tasks.run_ns - before_ns < (uint64_t)passed_ns)
		return (int64_t)(tasks.run_ns - before_ns);
	return passed_ns;
}

enum patience_left patience_look(struct patience *p)
{
	int64_t now = clock_ns(), passed_ns = now - p->look_ns;

	p->look_ns = now;
	p->counted_ns += patience_counts_ns(p, passed_ns < look_max_ns ? passed_ns : look_max_ns);
	if (p->counted_ns >= p->limit_ns)
		return PATIENCE_OVER;
	if (now - p->begin_ns > STARVED_FACTOR * p->limit_ns + STARVED_S * NS_PER_S)
		return PATIENCE_STARVED;
	return PATIENCE_LEFT;
}
