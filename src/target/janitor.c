/* janitor.c -- a directory of ours that is removed at the latest when we are gone. */
#include "target/janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "target/descriptors.h"
#include "target/tidy.h"

struct janitor {
	struct buf path;
	int parent_fd, dir_fd;
	int alive_fd; /* write end of a pipe whose end the janitor waits for */
	pid_t pid;
};

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void clean(const struct janitor *j)
{
	const char *slash = strrchr(buf_str(&j->path), '/');

	must(slash);
	tidy_below(j->dir_fd, NULL);
	unlinkat(j->parent_fd, slash + 1, AT_REMOVEDIR);
}

/* Runs in the janitor. Signals of the terminal must not end it before its work. */
static _Noreturn void wait_and_clean(const struct janitor *j, int wait_fd)
{
	const int keep[] = { j->parent_fd, j->dir_fd, wait_fd };
	char byte;

	setsid();
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sig != SIGCHLD && sig != SIGSEGV && sig != SIGBUS && sig != SIGABRT)
			signal(sig, SIG_IGN);
	descriptors_keep(keep, ARRAY_LEN(keep));
	while (read(wait_fd, &byte, 1) < 0 && errno == EINTR)
		;
	clean(j);
	_exit(0);
}

static int start(struct janitor *j, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	j->alive_fd = ends[1];
	j->pid = fork();
	if (!j->pid)
		wait_and_clean(j, ends[0]);
	close(ends[0]);
	return j->pid < 0 ? err_sys(err, errno, "cannot fork") : 0;
}

static int make_directory(struct janitor *j, const char *in, struct err *err)
{
	j->parent_fd = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->parent_fd < 0)
		return err_sys(err, errno, "%s", in);
	buf_addf(&j->path, "%s/.assay-XXXXXX", in);
	if (!mkdtemp(j->path.data)) {
		int error = errno;

		buf_clear(&j->path);
		return err_sys(err, error, "cannot make a directory in %s", in);
	}
	j->dir_fd = open(j->path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return j->dir_fd < 0 ? err_sys(err, errno, "%s", j->path.data) : 0;
}

int janitor_open(struct janitor **ret, const char *in, struct err *err)
{
	struct janitor *j = must_alloc(sizeof(*j));
	int r;

	*j = (struct janitor){ .path = BUF_INIT, .parent_fd = -1, .dir_fd = -1, .alive_fd = -1 };
	r = make_directory(j, in, err);
	if (!r)
		r = start(j, err);
	if (!r) {
		*ret = j;
		return 0;
	}
	if (j->path.len)
		rmdir(j->path.data);
	j->pid = 0;
	janitor_close(j, 0);
	return r;
}

int janitor_fd(const struct janitor *j)
{
	return j->dir_fd;
}

const char *janitor_path(const struct janitor *j)
{
	return buf_str(&j->path);
}

void janitor_close(struct janitor *j, double seconds)
{
	struct pollfd gone = { .events = POLLIN };
	int status;

	if (!j)
		return;
	close_fd(j->alive_fd);
	if (j->pid > 0) {
		gone.fd = (int)syscall(SYS_pidfd_open, j->pid, 0);
		while (poll(&gone, 1, (int)(seconds * 1000)) < 0 && errno == EINTR)
			;
		close_fd(gone.fd);
		/* Somebody killed it: its work is ours then. */
		if (waitpid(j->pid, &status, WNOHANG) == j->pid && status)
			clean(j);
	}
	close_fd(j->dir_fd);
	close_fd(j->parent_fd);
	buf_free(&j->path);
	free(j);
}
