/* daemon.c -- a FUSE daemon: started until it serves its mount, stopped until it is gone.
 *
 * Daemons fork away from the command that starts them, so what is waited for is the mount, of
 * which the kernel reports, and at the end every process there is. */
#include "sandbox/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "storage/mounting.h"
#include "storage/program.h"

enum {
	SAID_MAX = 600,
	OUTPUT_MAX = 1 << 20, /* beyond, what a daemon writes fails, until it is rewound */
	LOOK_MS = 100,
	KILLED_MS = 500,
	GONE_MS = 1000, /* from the end of a mount to the end of the process that served it */
};

/* A process below us ended by a SIGKILL that was not ours. A shell reports it of its last command
 * by its own status. */
static bool killed;
enum { SHELL_SIGNAL = 128 };

/* It was daemon_send_kill() that killed it. */
static atomic_bool killed_by_us;

/* The daemon that was started last: its output, and where its end is to be reported. The daemon
 * shares our position in that file: what it wrote last is before it. */
static struct {
	int output_fd;
	struct daemon_end *end;
} watched = { .output_fd = -1 };

/* A file in memory that does not grow: a daemon may talk for as long as it serves. */
static int daemon_make_output(void)
{
	int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 &&
	    (ftruncate(fd, OUTPUT_MAX) || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* What the command wrote, in one line. */
static void daemon_add_output(int output_fd, struct buf *out)
{
	char text[SAID_MAX];
	ssize_t n = pread(output_fd, text, sizeof(text) - 1, 0);

	if (n > 0)
		n = (ssize_t)strnlen(text, (size_t)n);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	if (n <= 0)
		return;
	for (ssize_t i = 0; i < n; i++)
		if (text[i] == '\n')
			text[i] = ' ';
	buf_adds(out, "; it says: ");
	buf_add(out, text, (size_t)n);
}

/* Waits for the next change of the mounts, or a moment. */
static void daemon_await_change(int mounts_fd)
{
	struct pollfd changed = { .fd = mounts_fd, .events = POLLPRI };

	poll(&changed, 1, LOOK_MS);
}

static bool daemon_is_killed(int status)
{
	return (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) == SHELL_SIGNAL + SIGKILL);
}

/* How the command ended before anything was mounted. One that succeeds has gone into the
 * background. */
static int daemon_judge_command(int status, struct buf *why)
{
	if (WIFSIGNALED(status))
		buf_addf(why, "it was killed by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		buf_addf(why, "it ended with status %d", WEXITSTATUS(status));
	return status ? -EIO : 0;
}

/* Reaps what has ended. 0 while something is left that may mount. */
static int daemon_reap_early(pid_t command, struct buf *why)
{
	int status, ret = 0;
	pid_t pid;

	while (!ret && (pid = waitpid(-1, &status, WNOHANG)) > 0) {
		killed |= daemon_is_killed(status);
		if (pid == command)
			ret = daemon_judge_command(status, why);
	}
	if (!ret && pid < 0 && errno == ECHILD) {
		buf_adds(why, "it ended without an error, but mounted nothing");
		ret = -EIO;
	}
	if (!ret || !killed)
		return ret;
	killed = false;
	buf_clear(why);
	buf_adds(why, "it was killed by SIGKILL, by another process or by the OOM killer");
	return -ECHILD;
}

/* Until it is mounted, or cannot be any more. */
static int daemon_await_mount(pid_t pid, const char *mount, int mounts_fd, double seconds,
			      struct buf *why)
{
	int64_t until_ms = clock_ms() + (int64_t)(seconds * 1000);
	int ret;

	while (!mounting_is_mounted(mount)) {
		ret = daemon_reap_early(pid, why);
		if (ret && !mounting_is_mounted(mount))
			return ret;
		buf_clear(why);
		if (clock_ms() > until_ms) {
			buf_addf(why, "mounting takes longer than %g seconds", seconds);
			return -ETIMEDOUT;
		}
		daemon_await_change(mounts_fd);
	}
	return 0;
}

static void daemon_watch(int output_fd, struct daemon_end *end)
{
	if (watched.output_fd >= 0)
		close(watched.output_fd);
	watched.output_fd = output_fd;
	watched.end = end;
	*end = (struct daemon_end){ 0 };
}

/* Of several processes, one that failed. */
static void daemon_note_end(int status)
{
	struct daemon_end *end = watched.end;

	if (!end || (end->known && end->status))
		return;
	end->known = true;
	end->status = status;
}

/* The last lines, as far as there is room. */
static void daemon_note_output(void)
{
	off_t at = lseek(watched.output_fd, 0, SEEK_CUR), from;
	char *text = watched.end->output;
	ssize_t n;

	if (at <= 0)
		return;
	from = at > DAEMON_OUTPUT_MAX - 1 ? at - (DAEMON_OUTPUT_MAX - 1) : 0;
	n = pread(watched.output_fd, text, (size_t)(at - from), from);
	text[n > 0 ? n : 0] = '\0';
	if (from && strchr(text, '\n')) { /* no part of a line */
		const char *line = strchr(text, '\n') + 1;

		memmove(text, line, strlen(line) + 1);
	}
}

int daemon_start(const char *command, const char *mount, int pass_fd, double seconds,
		 struct daemon_end *end, struct err *err)
{
	int output_fd = daemon_make_output();
	int mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC), ret;
	struct buf why = BUF_INIT;
	pid_t pid;

	killed_by_us = false;
	if (output_fd < 0 || mounts_fd < 0)
		ret = err_sys(err, errno, "cannot watch the daemon");
	else if ((pid = program_start(command, pass_fd, output_fd)) < 0)
		ret = err_sys(err, errno, "cannot start the daemon");
	else
		ret = daemon_await_mount(pid, mount, mounts_fd, seconds, &why);
	if (ret && why.len) {
		daemon_add_output(output_fd, &why);
		err_set(err, -ret, "%s does not mount: %s", command, why.data);
	}
	buf_free(&why);
	daemon_watch(output_fd, end);
	if (mounts_fd >= 0)
		close(mounts_fd);
	return ret;
}

/* Reaps until no process is left, or the time is over; or, where that is asked for, one has failed.
 * True unless the time is over. */
static bool daemon_await_gone(int64_t ms, bool first_failure)
{
	int64_t until_ms = clock_ms() + ms;
	struct timespec moment = { 0, LOOK_MS * 1000000L };
	bool failed = false;
	sigset_t child;
	pid_t pid;
	int status;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			killed |= daemon_is_killed(status);
			failed |= status != 0;
			daemon_note_end(status);
		}
		if ((pid < 0 && errno == ECHILD) || (first_failure && failed))
			return true;
		if (clock_ms() > until_ms)
			return false;
		sigtimedwait(&child, NULL, &moment);
	}
}

static void daemon_signal_all(int sig)
{
	/* The second process of a PID namespace; elsewhere that is the kernel's, and this would be
	 * everyone's end. */
	must(getpid() == 2);
	kill(-1, sig);
}

static int daemon_report_killed(struct err *err)
{
	return err_set(
		err, ECHILD,
		"the daemon was killed by SIGKILL: by another process, or by the OOM killer");
}

int daemon_stop(const char *mount, double seconds, struct err *err)
{
	int ret = mounting_is_mounted(mount) ? mounting_unmount(mount, err) : 0;

	if (ret)
		return ret;
	if (daemon_await_gone((int64_t)(seconds * 1000), false))
		return killed ? daemon_report_killed(err) : 0;
	daemon_signal_all(SIGKILL);
	daemon_await_gone((int64_t)(seconds * 1000), false);
	killed = false;
	return 0;
}

void daemon_send_kill(void)
{
	killed_by_us = true;
	/* A process of a script that ends closes its files: no daemon must hear of that. */
	daemon_signal_all(SIGSTOP);
	daemon_signal_all(SIGKILL);
}

int daemon_kill(const char *mount, double seconds, struct err *err)
{
	bool gone;

	daemon_send_kill();
	gone = daemon_await_gone(KILLED_MS, false);
	if (!gone) {
		mounting_abort(mount);
		gone = daemon_await_gone((int64_t)(seconds * 1000), false);
	}
	killed = false;
	return gone ? 0 : err_set(err, ETIMEDOUT, "the daemon does not end when it is killed");
}

bool daemon_gone(const char *mount)
{
	struct statfs st;

	if (statfs(mount, &st))
		return errno == ENOTCONN || errno == ECONNABORTED;
	/* One that serves for long may write much: its last words still find room. */
	if (lseek(watched.output_fd, 0, SEEK_CUR) > OUTPUT_MAX / 2)
		lseek(watched.output_fd, 0, SEEK_SET);
	return false;
}

int daemon_killed(struct err *err)
{
	daemon_await_gone(GONE_MS, true);
	if (watched.end)
		daemon_note_output();
	return killed && !killed_by_us ? daemon_report_killed(err) : 0;
}

void daemon_print_end(const struct daemon_end *end, struct buf *out)
{
	const char *name;

	if (!end->known)
		return;
	if (!WIFSIGNALED(end->status)) {
		buf_addf(out, "exit status %d", WEXITSTATUS(end->status));
		return;
	}
	name = sigabbrev_np(WTERMSIG(end->status));
	buf_addf(out, "signal %d", WTERMSIG(end->status));
	if (name)
		buf_addf(out, " (SIG%s)", name);
}
