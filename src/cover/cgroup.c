/* cgroup.c -- finding the unified hierarchy, and a group of our own in it. */
#include "cover/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"

/* Where the unified hierarchy is mounted. */
static bool find_mount(struct buf *out)
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

static bool find_parent(struct buf *out)
{
	return find_mount(out) && find_own(out);
}

static bool move_into(int dir, const char *procs, const char *pid)
{
	int fd = openat(dir, procs, O_WRONLY | O_CLOEXEC);
	bool moved = fd >= 0 && write(fd, pid, strlen(pid)) > 0;

	if (fd >= 0)
		close(fd);
	return moved;
}

static void send_back(const struct cgroup *g)
{
	int fd = openat(g->fd, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *procs = fd < 0 ? NULL : fdopen(fd, "r");
	char pid[32];

	while (procs && fgets(pid, sizeof(pid), procs))
		move_into(g->fd, "../cgroup.procs", pid);
	if (procs)
		fclose(procs);
}

static void remove_group(const struct cgroup *g)
{
	for (int tries = 0; tries < 100 && rmdir(g->path) && errno == EBUSY; tries++) {
		send_back(g);
		usleep(1000); /* a process that has ended stays for a moment */
	}
}

/* A process that outlives us, however we end, and removes the group when nobody holds the other
 * end of the pipe any more. It takes no part in anything else: signals, terminal, output. */
static _Noreturn void guard(const struct cgroup *g, int pipe_fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	while (read(pipe_fd, &byte, 1) < 0 && errno == EINTR)
		;
	remove_group(g);
	_exit(0);
}

static bool start_guard(struct cgroup *g)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	g->guard = fork();
	if (!g->guard) {
		close(ends[1]);
		guard(g, ends[0]);
	}
	close(ends[0]);
	g->guard_fd = ends[1];
	return g->guard > 0;
}

bool cgroup_make(struct cgroup *g)
{
	struct buf path = BUF_INIT;
	struct stat st;

	*g = (struct cgroup){ .fd = -1, .guard_fd = -1 };
	if (find_parent(&path)) {
		buf_addf(&path, "/assay-cover-%d", (int)getpid());
		if (!mkdir(path.data, 0755))
			g->fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (g->fd < 0) {
		buf_free(&path);
		return false;
	}
	g->path = path.data;
	must(!fstat(g->fd, &st));
	g->id = st.st_ino;
	if (start_guard(g))
		return true;
	cgroup_remove(g);
	return false;
}

bool cgroup_join(const struct cgroup *g)
{
	return move_into(g->fd, "cgroup.procs", "0");
}

void cgroup_remove(struct cgroup *g)
{
	if (!g->path)
		return;
	if (g->guard_fd >= 0)
		close(g->guard_fd);
	if (g->guard > 0)
		waitpid(g->guard, NULL, 0);
	else
		remove_group(g);
	close(g->fd);
	free(g->path);
	*g = (struct cgroup){ .fd = -1, .guard_fd = -1 };
}
