/* janitor.c -- a directory of ours that is removed at the latest when we are gone. */
#include "storage/janitor.h"

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
#include "process/descriptors.h"
#include "storage/remove_tree.h"

/* How often a removal is tried: others may still be at work there, who end for the same reason as
 * we do, a moment later. */
enum { JANITOR_TRIES = 100, JANITOR_TRY_USEC = 20 * 1000 };

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

static void janitor_clean(const struct janitor *j)
{
	const char *slash = strrchr(buf_str(&j->path), '/');

	must(slash);
	for (int tries = 0; tries < JANITOR_TRIES; tries++) {
		remove_tree_below(j->dir_fd, NULL);
		if (!unlinkat(j->parent_fd, slash + 1, AT_REMOVEDIR) || errno != ENOTEMPTY)
			return;
		usleep(JANITOR_TRY_USEC);
	}
}

/* Runs in the janitor. It makes the directory itself, so that there is no moment in which no
 * process would remove it. Signals of the terminal must not end it before its work. */
static _Noreturn void janitor_run(struct janitor *j, int wait_fd, int report_fd)
{
	int keep[] = { j->parent_fd, -1, wait_fd }, error = 0;
	char byte;

	setsid();
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sig != SIGCHLD && sig != SIGSEGV && sig != SIGBUS && sig != SIGABRT)
			signal(sig, SIG_IGN);
	if (mkdtemp(j->path.data)) {
		j->dir_fd = open(j->path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		error = j->dir_fd < 0 ? errno : 0;
	} else {
		error = errno;
	}
	if (write(report_fd, &error, sizeof(error)) != sizeof(error) ||
	    write(report_fd, j->path.data, j->path.len) != (ssize_t)j->path.len || error)
		_exit(rmdir(j->path.data));
	keep[1] = j->dir_fd;
	descriptors_keep(keep, ARRAY_LEN(keep));
	while (read(wait_fd, &byte, 1) < 0 && errno == EINTR)
		;
	janitor_clean(j);
	_exit(0);
}

/* What the janitor says of the directory it made. */
static int janitor_hear(struct janitor *j, int fd, const char *in, struct err *err)
{
	int error = EIO;

	if (read(fd, &error, sizeof(error)) != sizeof(error) || error ||
	    read(fd, j->path.data, j->path.len) != (ssize_t)j->path.len)
		return err_sys(err, error ? error : EIO, "cannot make a directory in %s", in);
	j->dir_fd = open(j->path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return j->dir_fd < 0 ? err_sys(err, errno, "%s", j->path.data) : 0;
}

static int janitor_start(struct janitor *j, const char *in, struct err *err)
{
	int alive[2], report[2], r;

	if (pipe2(alive, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	j->alive_fd = alive[1];
	if (pipe2(report, O_CLOEXEC)) {
		close(alive[0]);
		return err_sys(err, errno, "cannot make a pipe");
	}
	j->pid = fork();
	if (!j->pid) {
		close(alive[1]);
		janitor_run(j, alive[0], report[1]);
	}
	close(alive[0]);
	close(report[1]);
	r = j->pid < 0 ? err_sys(err, errno, "cannot fork") : janitor_hear(j, report[0], in, err);
	close(report[0]);
	return r;
}

int janitor_open(struct janitor **ret, const char *in, struct err *err)
{
	struct janitor *j = must_alloc(sizeof(*j));
	int r = 0;

	*j = (struct janitor){ .path = BUF_INIT, .parent_fd = -1, .dir_fd = -1, .alive_fd = -1 };
	buf_addf(&j->path, "%s/.assay-XXXXXX", in);
	j->parent_fd = open(in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->parent_fd < 0)
		r = err_sys(err, errno, "%s", in);
	if (!r)
		r = janitor_start(j, in, err);
	if (!r)
		*ret = j;
	else
		janitor_close(j, 1);
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
			janitor_clean(j);
	}
	close_fd(j->dir_fd);
	close_fd(j->parent_fd);
	buf_free(&j->path);
	free(j);
}
