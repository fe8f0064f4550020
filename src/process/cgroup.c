/* cgroup.c -- finds the unified hierarchy, and makes a new group in it. */
#include "process/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "process/descriptors.h"

enum { MOMENT_US = 1000, EMPTY_MS = 5000 };

/* Where the unified hierarchy is mounted. */
static bool find_cgroup_mount(struct buf *out)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, "cgroup2");
		if (found)
			buf_adds(out, m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Our own group in it: the line "0::/path". */
static bool find_own(struct buf *out)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		found = !strncmp(line, "0::/", 4);
		line[strcspn(line, "\n")] = 0;
		if (found && strcmp(line, "0::/"))
			buf_adds(out, line + 3);
	}
	if (f)
		fclose(f);
	return found;
}

static bool cgroup_write(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, strlen(text)) > 0;

	if (fd >= 0)
		close(fd);
	return written;
}

/* Calls the function with every process in the group, and what to do. */
static void cgroup_each(const struct cgroup *g,
			void (*visit)(const struct cgroup *, const char *, int), int what)
{
	int fd = openat(g->fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *procs = fd < 0 ? NULL : fdopen(fd, "r");
	char pid[32];

	while (procs && fgets(pid, sizeof(pid), procs))
		visit(g, pid, what);
	if (procs)
		fclose(procs);
}

static void cgroup_send_back(const struct cgroup *g, const char *pid, int unused)
{
	cgroup_write(g->fd, "../cgroup.procs", pid);
}

static void cgroup_kill_one(const struct cgroup *g, const char *pid, int signal)
{
	if (atoi(pid) > 0)
		kill(atoi(pid), signal);
}

void cgroup_signal(const struct cgroup *g, int signal)
{
	if (g->fd >= 0)
		cgroup_each(g, cgroup_kill_one, signal);
}

/* Removes the group as soon as it is empty, for so long: true unless some process stays in it. */
static bool cgroup_await_empty(const struct cgroup *g, int64_t ms,
			       void (*hurry)(const struct cgroup *))
{
	int64_t until_ms = clock_ms() + ms;

	while (rmdir(g->path) && errno == EBUSY) {
		if (clock_ms() > until_ms)
			return false;
		if (hurry)
			hurry(g);
		usleep(MOMENT_US); /* a process that has ended stays for a moment */
	}
	return true;
}

static void cgroup_send_all_back(const struct cgroup *g)
{
	cgroup_each(g, cgroup_send_back, 0);
}

static void cgroup_kill_all(const struct cgroup *g)
{
	cgroup_signal(g, SIGKILL);
}

/* A process that outlives us, however we end, and removes the group when no process holds the other
 * end of the pipe any more. A byte before that says that all went well; else what we started ends
 * with us. It takes no part in anything else: signals, terminal, output. */
static _Noreturn void cgroup_guard(struct cgroup *g, int pipe_fd)
{
	sigset_t all;
	ssize_t got;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	descriptors_keep(&pipe_fd, 1);
	while ((got = read(pipe_fd, &byte, 1)) < 0 && errno == EINTR)
		;
	g->fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (got == 1)
		cgroup_await_empty(g, EMPTY_MS, cgroup_send_all_back);
	else if (!cgroup_await_empty(g, g->patience_ms, NULL))
		cgroup_await_empty(g, EMPTY_MS, cgroup_kill_all);
	_exit(0);
}

static bool cgroup_start_guard(struct cgroup *g)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	g->guard = fork();
	if (!g->guard) {
		close(ends[1]);
		cgroup_guard(g, ends[0]);
	}
	close(ends[0]);
	g->guard_fd = ends[1];
	return g->guard > 0;
}

/* The guard first: the group is removed at whatever moment we are killed. */
bool cgroup_make(struct cgroup *g, const char *purpose, int64_t patience_ms)
{
	static unsigned count;
	struct buf path = BUF_INIT;
	struct stat st;

	*g = (struct cgroup){ .fd = -1, .guard_fd = -1, .patience_ms = patience_ms };
	if (!find_cgroup_mount(&path) || !find_own(&path)) {
		buf_free(&path);
		return false;
	}
	buf_addf(&path, "/assay-%s-%d-%u", purpose, (int)getpid(), count++);
	g->path = path.data;
	if (cgroup_start_guard(g) && !mkdir(g->path, 0755))
		g->fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->fd < 0 || fstat(g->fd, &st)) {
		cgroup_remove(g);
		return false;
	}
	g->id = st.st_ino;
	return true;
}

bool cgroup_join(const struct cgroup *g)
{
	return cgroup_write(g->fd, "cgroup.procs", "0");
}

bool cgroup_bound_memory(const struct cgroup *g, uint64_t bytes)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return cgroup_write(g->fd, "memory.max", text);
}

/* The guard does it, as it would without us. */
void cgroup_remove(struct cgroup *g)
{
	if (!g->path)
		return;
	if (g->guard > 0 && write(g->guard_fd, "", 1) != 1)
		g->guard = 0; /* it is gone, and we never wait for it */
	if (g->guard_fd >= 0)
		close(g->guard_fd);
	if (g->guard > 0)
		waitpid(g->guard, NULL, 0);
	if (g->fd >= 0)
		close(g->fd);
	free(g->path);
	*g = (struct cgroup){ .fd = -1, .guard_fd = -1 };
}
