/* confined.c -- a compiled program runs on a file system and can change nothing else.
 *
 * A runner process starts the program: it makes the mount namespace, starts the program,
 * kills it when its time is over, and reports by a pipe how it ended. We listen to what the
 * program writes and remount when it asks. */
#include "sandbox/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "process/owner.h"
#include "sandbox/privilege.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

enum {
	OUTPUT_MAX = 64 * 1024,
	ASK_FD = 8,      /* the program writes a line to it... */
	ANSWER_FD = 9,   /* ...and reads 0 or an errno from this one */
	GONE_MS = 2000,  /* for a killed program to be gone */
	GRACE_MS = 5000, /* for the runner to report */
};

static const char remount_command[] = "echo remount >&8; read -r error <&9; exit \"$error\"";

/* How the program ended, as the runner reports it. */
struct runner_report {
	enum program_fate fate;
	int status;
	int failure; /* of ours, before the program started: negative errno */
	struct err err;
};

/* The two ends of each pipe: [0] to read from. */
struct runner_pipes {
	int output[2], ask[2], answer[2], report[2];
};

int confined_share_mounts(struct err *err)
{
	return mount("", "/", NULL, MS_REC | MS_SHARED, NULL)
		     ? err_sys(err, errno, "cannot share mounts with a program")
		     : 0;
}

/* Only one mount can be written to: that which the directory, or one above it, is the root of.
 * Without remounts it is one made for this. */
static int confined_open_mount(const struct confined *c)
{
	struct mount_attr writable = { .attr_clr = MOUNT_ATTR_RDONLY };
	struct buf at = BUF_INIT;
	char *slash;
	int ret = 0;

	buf_adds(&at, c->root);
	if (!c->remount)
		ret = mount(c->root, c->root, NULL, MS_BIND, NULL);
	while (!ret && mount_setattr(AT_FDCWD, buf_str(&at), 0, &writable, sizeof(writable))) {
		slash = strrchr(at.data, '/');
		if (errno != EINVAL || !slash || slash == at.data)
			ret = -1;
		else
			*slash = '\0';
	}
	buf_free(&at);
	return ret;
}

/* Dropping caches changes nothing that is kept. */
static void open_cache_control(void)
{
	static const char control[] = "/proc/sys/vm/drop_caches";
	struct mount_attr writable = { .attr_clr = MOUNT_ATTR_RDONLY };

	if (!mount(control, control, NULL, MS_BIND, NULL))
		mount_setattr(AT_FDCWD, control, 0, &writable, sizeof(writable));
}

static int runner_confine(const struct confined *c, struct err *err)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
		.propagation = MS_SLAVE,
	};

	if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)))
		return err_sys(err, errno, "cannot make all mounts read-only for a program");
	if (confined_open_mount(c))
		return err_sys(err, errno, "cannot make %s writable for a program", c->root);
	open_cache_control();
	return 0;
}

static int keep_program(const char *program, size_t len)
{
	int fd = memfd_create("program", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("program", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, program, len) != (ssize_t)len) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The program itself, with a descriptor of no input and its ends of the pipes. */
static _Noreturn void execute(const struct confined *c, int program_fd, int null_fd,
			      const struct runner_pipes *p)
{
	char *argv[] = { (char *)"repro", (char *)c->root,
			 c->remount ? (char *)remount_command : NULL, NULL };
	char *environment[] = { (char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", (char *)"LC_ALL=C",
				NULL };
	struct rlimit no_core = { 0, 0 };
	int output = fcntl(p->output[1], F_DUPFD_CLOEXEC, ANSWER_FD + 1);
	int ask = fcntl(p->ask[1], F_DUPFD_CLOEXEC, ANSWER_FD + 1);
	int answer = fcntl(p->answer[0], F_DUPFD_CLOEXEC, ANSWER_FD + 1);
	int executable = fcntl(program_fd, F_DUPFD_CLOEXEC, ANSWER_FD + 1);

	setsid();
	setrlimit(RLIMIT_CORE, &no_core);
	dup2(null_fd, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	dup2(ask, ASK_FD);
	dup2(answer, ANSWER_FD);
	must(!chdir("/"));
	umask(022);
	syscall(SYS_execveat, executable, "", argv, environment, AT_EMPTY_PATH);
	dprintf(STDERR_FILENO, "cannot be executed: %m\n");
	_exit(127);
}

static bool runner_await_end(int pidfd, int64_t ms)
{
	struct pollfd ended = { .fd = pidfd, .events = POLLIN };
	int64_t until_ms = clock_ms() + ms, left_ms;

	while ((left_ms = until_ms - clock_ms()) > 0)
		if (poll(&ended, 1, (int)left_ms) > 0)
			return true;
	return false;
}

/* Starts the program and waits for its end; one that the kernel does not let go is left. */
static int runner_run_program(const struct confined *c, int program_fd, int null_fd, double seconds,
			      const struct runner_pipes *p, struct runner_report *ret)
{
	pid_t runner = getpid(), pid = fork();
	int pidfd, status;

	if (pid < 0)
		return err_sys(&ret->err, errno, "cannot start a program");
	if (!pid) {
		owner_follow(runner, SIGKILL);
		execute(c, program_fd, null_fd, p);
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (!runner_await_end(pidfd, (int64_t)(seconds * 1000))) {
		ret->fate = PROGRAM_HUNG;
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		runner_await_end(pidfd, GONE_MS);
	} else if (waitpid(pid, &status, 0) == pid) {
		ret->fate = WIFEXITED(status) ? PROGRAM_EXITED : PROGRAM_KILLED;
		ret->status = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
		kill(-pid, SIGKILL); /* whatever it left behind */
	}
	return 0;
}

/* In a user namespace every user keeps their ids. */
static int keep_user(uid_t uid, gid_t gid, struct err *err)
{
	struct user_map user = { uid, uid }, group = { gid, gid };

	return privilege_map_user(user, group, err);
}

static _Noreturn void runner(const struct confined *c, const char *program, size_t len,
			     double seconds, const struct runner_pipes *p, uid_t uid, gid_t gid,
			     int owner_fd)
{
	struct runner_report report = { 0 };
	int null_fd, program_fd;
	sigset_t none;

	owner_follow_fd(owner_fd, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	program_fd = keep_program(program, len);
	if (program_fd < 0)
		report.failure = err_sys(&report.err, errno, "cannot keep a program in memory");
	if (!report.failure && c->clone_flags & CLONE_NEWUSER)
		report.failure = keep_user(uid, gid, &report.err);
	if (!report.failure)
		report.failure = runner_confine(c, &report.err);
	if (!report.failure)
		report.failure = runner_run_program(c, program_fd, null_fd, seconds, p, &report);
	_exit(write(p->report[1], &report, sizeof(report)) != sizeof(report));
}

static void runner_close_pipes(struct runner_pipes *p)
{
	int *ends = p->output;

	for (size_t i = 0; i < sizeof(*p) / sizeof(*ends); i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

static int runner_open_pipes(struct runner_pipes *p, struct err *err)
{
	int *pairs[] = { p->output, p->ask, p->answer, p->report };

	memset(p, -1, sizeof(*p));
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (pipe2(pairs[i], O_CLOEXEC)) {
			runner_close_pipes(p);
			return err_sys(err, errno, "cannot make a pipe");
		}
	fcntl(p->output[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* Ends that are the runner's alone; without them we would never learn that it is gone. */
static void close_runners(struct runner_pipes *p)
{
	int *ends[] = { &p->output[1], &p->ask[1], &p->answer[0], &p->report[1] };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		close(*ends[i]);
		*ends[i] = -1;
	}
}

static void runner_take_output(int fd, struct buf *out)
{
	char chunk[4096];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		if (out->len < OUTPUT_MAX)
			buf_add(out, chunk, (size_t)n);
}

static void runner_serve_remount(const struct confined *c, const struct runner_pipes *p)
{
	char line[64];

	if (read(p->ask[0], line, sizeof(line)) > 0)
		dprintf(p->answer[1], "%d\n", c->remount ? c->remount(c->own) : ENOSYS);
}

/* Listens and remounts until the runner has reported; false where it did not in time. */
static bool runner_attend(const struct confined *c, const struct runner_pipes *p, int64_t until_ms,
			  struct buf *output, struct runner_report *ret)
{
	struct pollfd fds[] = {
		{ .fd = p->report[0], .events = POLLIN },
		{ .fd = p->ask[0], .events = POLLIN },
		{ .fd = p->output[0], .events = POLLIN },
	};
	int64_t left_ms;
	ssize_t n;

	while ((left_ms = until_ms - clock_ms()) > 0) {
		if (poll(fds, ARRAY_LEN(fds), (int)left_ms) <= 0)
			continue;
		for (size_t i = 1; i < ARRAY_LEN(fds); i++)
			if (fds[i].revents & (POLLHUP | POLLERR) && !(fds[i].revents & POLLIN))
				fds[i].fd = -1;
		if (fds[2].revents & POLLIN)
			runner_take_output(p->output[0], output);
		if (fds[1].revents & POLLIN)
			runner_serve_remount(c, p);
		if (fds[0].revents) {
			n = read(p->report[0], ret, sizeof(*ret));
			runner_take_output(p->output[0], output);
			/* Killed with all others where the file system would not be unmounted. */
			if (n != (ssize_t)sizeof(*ret))
				*ret = (struct runner_report){ PROGRAM_KILLED, SIGKILL, 0, { 0 } };
			return true;
		}
	}
	return false;
}

int confined_run(const struct confined *c, const char *program, size_t len, double seconds,
		 struct program_report *ret, struct err *err)
{
	int64_t until_ms = clock_ms() + (int64_t)(seconds * 1000) + GONE_MS + GRACE_MS;
	struct runner_report report = { .fate = PROGRAM_HUNG };
	uid_t uid = geteuid();
	gid_t gid = getegid();
	struct runner_pipes p;
	pid_t pid;
	int r = runner_open_pipes(&p, err), owner_fd;

	*ret = (struct program_report){ 0 };
	if (r)
		return r;
	owner_fd = owner_open();
	pid = (pid_t)syscall(SYS_clone, c->clone_flags | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		runner(c, program, len, seconds, &p, uid, gid, owner_fd);
	if (owner_fd >= 0)
		close(owner_fd);
	if (pid < 0)
		r = err_sys(err, errno, "cannot start a program in namespaces");
	close_runners(&p);
	if (!r && !runner_attend(c, &p, until_ms, &ret->output, &report))
		kill(pid, SIGKILL);
	if (!r && !(c->clone_flags & CLONE_PARENT))
		waitpid(pid, NULL, report.fate == PROGRAM_HUNG ? WNOHANG : 0);
	runner_close_pipes(&p);
	if (!r && report.failure)
		r = err_set(err, -report.failure, "%s", report.err.text);
	ret->fate = report.fate;
	ret->status = report.status;
	if (r)
		program_report_free(ret);
	return r;
}
