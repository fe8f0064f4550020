/* app_record.c -- an application runs on a mounted RefFS, and its calls become a script.
 *
 * A process of ours makes the namespaces and starts the daemon and the commands. All of them write
 * to the same open file: what is appended between two requests is in its place in the script. */
#include "appcrash/app_record.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "appcrash/app_command.h"
#include "appcrash/app_sync.h"
#include "base/buf.h"
#include "base/err.h"
#include "process/capability.h"
#include "process/owner.h"
#include "reffs/mount.h"
#include "reffs/record.h"
#include "sandbox/privilege.h"

enum { APP_OUTPUT_TOLD = 300 };

/* ---- the mount ---- */

static int record_enter_namespaces(struct err *err)
{
	bool privileged = capability_has(CAP_SYS_ADMIN);
	struct user_map user = { geteuid(), geteuid() }, group = { getegid(), getegid() };
	int status = 0;

	if (unshare(CLONE_NEWNS | (privileged ? 0 : CLONE_NEWUSER)))
		return err_sys(err, errno, "cannot make a mount namespace");
	if (!privileged)
		status = privilege_map_user(user, group, err);
	if (!status && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		status = err_sys(err, errno, "cannot make mounts private");
	return status;
}

static _Noreturn void record_serve(const char *dir, int trace_fd, int ready_fd, pid_t owner)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * (uint64_t)sysconf(_SC_PAGESIZE);
	struct mount_options o = {
		.size = half,
		.inodes = 1 << 20,
		.memory = half,
		.allow_other = !geteuid(),
		.record_fd = trace_fd,
	};
	struct err err = { 0 };

	owner_follow(owner, SIGTERM);
	if (reffs_serve(dir, &o, ready_fd, &err))
		dprintf(ready_fd, " %s", err.text);
	_exit(err.code != 0);
}

/* A NUL says that it is mounted; else the daemon says why not. */
static int record_await_mount(int fd, struct err *err)
{
	char text[ERR_TEXT_MAX];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0) {
		len += (size_t)n;
		if (!text[len - 1])
			return 0;
	}
	text[len] = '\0';
	return err_set(err, EIO, "cannot mount RefFS:%s", len ? text : " the daemon ended");
}

static int record_mount(const char *dir, int trace_fd, pid_t *ret_daemon, struct err *err)
{
	pid_t owner = getpid();
	int ready[2], status;

	if (pipe2(ready, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	*ret_daemon = fork();
	if (!*ret_daemon) {
		close(ready[0]);
		record_serve(dir, trace_fd, ready[1], owner);
	}
	close(ready[1]);
	status = *ret_daemon < 0 ? err_sys(err, errno, "cannot start RefFS")
				 : record_await_mount(ready[0], err);
	close(ready[0]);
	return status;
}

/* Stores to mappings reach the daemon at the latest now. */
static void record_flush(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		syncfs(fd);
		close(fd);
	}
}

/* ---- the commands ---- */

static int record_command(const struct app_record *a, const char *text, int stdout_fd,
			  struct app_sync *sync, struct err *err)
{
	struct app_command c = { .text = text,
				 .dir = a->dir,
				 .seconds = a->seconds,
				 .stdout_fd = stdout_fd,
				 .stderr_fd = -1,
				 .in_child = sync ? app_sync_enter : NULL,
				 .own = sync };
	struct buf output = BUF_INIT;
	int exit_status = 0, status = app_command_run(&c, &exit_status, &output, err);

	record_flush(a->dir);
	if (!status && exit_status) {
		if (output.len > APP_OUTPUT_TOLD)
			output.data[APP_OUTPUT_TOLD] = '\0';
		for (char *at = output.data; at && (at = strchr(at, '\n')); at++)
			*at = at[1] ? ';' : '\0';
		status = err_set(err, EINVAL, "%s: exit status %d%s%s", text, exit_status,
				 output.len ? ": " : "", buf_str(&output));
	}
	buf_free(&output);
	return status;
}

/* What it prints is part of the history, so that a check can know what was said before a crash. */
static int record_app(const struct app_record *a, int trace_fd, struct err *err)
{
	struct buf path = BUF_INIT;
	struct app_sync sync;
	int fd, status;

	buf_addf(&path, "%s/" RECORD_PRINTED, a->dir);
	fd = open(path.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || unlink(path.data))
		status = err_sys(err, errno, "cannot make a file on RefFS");
	else
		status = app_sync_start(&sync, a->dir, trace_fd, err);
	if (!status) {
		status = record_command(a, a->app, fd, &sync, err);
		app_sync_stop(&sync);
	}
	if (fd >= 0)
		close(fd);
	buf_free(&path);
	return status;
}

static int record_commands(const struct app_record *a, int trace_fd, struct err *err)
{
	int status = a->prepare ? record_command(a, a->prepare, -1, NULL, err) : 0;

	if (!status && write(trace_fd, APP_RUN_MARK, strlen(APP_RUN_MARK)) < 0)
		status = err_sys(err, errno, "cannot write %s", a->trace);
	return status ? status : record_app(a, trace_fd, err);
}

static int record_run(const struct app_record *a, int trace_fd, struct err *err)
{
	pid_t daemon = -1;
	int status = record_enter_namespaces(err), daemon_status;

	if (!status)
		status = record_mount(a->dir, trace_fd, &daemon, err);
	if (!status)
		status = record_commands(a, trace_fd, err);
	if (daemon > 0) {
		kill(daemon, SIGTERM);
		while (waitpid(daemon, &daemon_status, 0) < 0 && errno == EINTR)
			;
	}
	return status;
}

int app_record(const struct app_record *a, struct err *err)
{
	int trace_fd = open(a->trace, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	struct err why = { 0 };
	int report[2], status = 0;
	pid_t owner = getpid(), pid;

	if (trace_fd < 0)
		return err_sys(err, errno, "cannot make %s", a->trace);
	if (pipe2(report, O_CLOEXEC)) {
		close(trace_fd);
		return err_sys(err, errno, "cannot make a pipe");
	}
	pid = fork();
	if (!pid) {
		owner_follow(owner, SIGKILL);
		record_run(a, trace_fd, &why);
		_exit(write(report[1], &why, sizeof(why)) != sizeof(why));
	}
	close(report[1]);
	close(trace_fd);
	if (pid < 0)
		status = err_sys(err, errno, "cannot start a process");
	else if (read(report[0], &why, sizeof(why)) != sizeof(why))
		status = err_set(err, EIO, "the process that records the application was killed");
	else if (why.code)
		status = err_set(err, -why.code, "%s", why.text);
	close(report[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return status;
}
