/* sandbox.c -- starting a sandbox, giving it requests, and giving it up. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "channel/client.h"
#include "process/owner.h"
#include "sandbox/patience.h"
#include "sandbox/sandbox_server.h"

enum {
	LOOK_MS = 100,   /* how often it is looked whether the sandbox lives */
	GRACE_MS = 2000, /* for one that is to end all processes below it */
	KILLED_MS = 500, /* for a killed one to be gone */
	REPORT_S = 30,   /* for one that gives up mounting to report it */
};

struct sandbox {
	struct sandbox_ops ops;
	struct sandbox_options options;
	struct sandbox_message *own_message;
	struct message *message; /* the part of it that all servers have */
	struct channel_client client;
	pid_t pid;       /* 0: gone or given up */
	int ended_by;    /* the signal that ended the process that makes the calls; 0: none */
	struct err lost; /* why, where that was none of the file system's doing */
};

/* Killed, and not gone when last looked. */
static pid_t *abandoned;
static unsigned abandoned_count;

/* Those that are gone by now. */
static void sandbox_reap_abandoned(void)
{
	unsigned left = 0;

	for (unsigned i = 0; i < abandoned_count; i++)
		if (!waitpid(abandoned[i], NULL, WNOHANG))
			abandoned[left++] = abandoned[i];
	abandoned_count = left;
}

static bool is_gone_within(int pidfd, int ms)
{
	struct pollfd gone = { .fd = pidfd, .events = POLLIN };
	int ret;

	while ((ret = poll(&gone, 1, ms)) < 0 && errno == EINTR)
		;
	return ret > 0;
}

/* Ends it and all processes below it; one that the kernel does not let go is left behind. */
static void sandbox_end(struct sandbox *k)
{
	int pidfd = (int)syscall(SYS_pidfd_open, k->pid, 0);

	kill(k->pid, SANDBOX_END_NOW);
	if (pidfd < 0 || !is_gone_within(pidfd, GRACE_MS)) {
		kill(k->pid, SIGKILL);
		is_gone_within(pidfd, KILLED_MS);
	}
	if (pidfd >= 0)
		close(pidfd);
	if (!waitpid(k->pid, NULL, WNOHANG)) {
		abandoned = must_realloc(abandoned, (abandoned_count + 1) * sizeof(*abandoned));
		abandoned[abandoned_count++] = k->pid;
	}
	k->pid = 0;
}

/* Puts why the sandbox was lost on the channel, as the sandbox would a failure. */
static enum target_fate sandbox_report_lost(struct sandbox *k)
{
	k->message->channel.failure = k->lost.code;
	k->message->channel.err = k->lost;
	return FATE_FINE;
}

/* No other process should end it: the file system has nothing to do with it, or the kernel says so
 * in its log. */
static enum target_fate sandbox_was_killed(struct sandbox *k, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : SANDBOX_SIGNAL + WTERMSIG(status);

	k->pid = 0;
	k->ended_by = code > SANDBOX_SIGNAL ? code - SANDBOX_SIGNAL : 0;
	if (k->ended_by)
		err_set(&k->lost, ECHILD,
			"the process that makes the calls was killed by signal %d (%s): by "
			"another process, or by the OOM killer",
			k->ended_by, strsignal(k->ended_by));
	else
		err_set(&k->lost, ECHILD, "the process that makes the calls ended with status %d",
			code);
	return sandbox_report_lost(k);
}

static enum target_fate sandbox_was_starved(struct sandbox *k)
{
	sandbox_end(k);
	err_set(&k->lost, ECHILD,
		"the process that makes the calls does not get to run: it is stopped, or the "
		"machine is too busy");
	return sandbox_report_lost(k);
}

/* For mounting, during a call or apart. */
static double sandbox_mount_seconds(const struct sandbox *k)
{
	double seconds = channel_seconds(&k->client);

	return seconds > SANDBOX_MOUNT_S ? seconds : SANDBOX_MOUNT_S;
}

/* What the step that it is in now may take. */
static void sandbox_begin_patience(struct sandbox *k, struct patience *p, double seconds)
{
	if (atomic_load(&k->message->mounting))
		seconds = sandbox_mount_seconds(k) + REPORT_S;
	patience_begin(p, k->pid, (int64_t)(seconds * 1e9));
}

/* Waits until the turn is back, or the deadline of a step is over. */
static enum target_fate sandbox_await(struct sandbox *k, double seconds)
{
	uint32_t progress = atomic_load(&k->message->progress), now;
	struct patience patience;
	int status;

	sandbox_begin_patience(k, &patience, seconds);
	while (!turn_await(&k->message->channel.turn, SIDE_CLIENT,
			   clock_ns() + LOOK_MS * NS_PER_MS)) {
		if (waitpid(k->pid, &status, WNOHANG) == k->pid)
			return sandbox_was_killed(k, status);
		now = atomic_load(&k->message->progress);
		if (now != progress) {
			progress = now;
			sandbox_begin_patience(k, &patience, seconds);
			continue;
		}
		switch (patience_look(&patience)) {
		case PATIENCE_LEFT:
			break;
		case PATIENCE_OVER:
			sandbox_end(k);
			return FATE_HUNG;
		case PATIENCE_STARVED:
			return sandbox_was_starved(k);
		}
	}
	return FATE_FINE;
}

/* Gives the turn to the sandbox. */
static enum target_fate sandbox_send(void *own, enum message_request request, double seconds)
{
	struct sandbox *k = own;

	if (!k->pid)
		return k->lost.code ? sandbox_report_lost(k) : FATE_DIED;
	k->message->request = request;
	turn_pass(&k->message->channel.turn, SIDE_SERVER);
	return sandbox_await(k, seconds);
}

/* Requests between calls; what says what they do. */
static int sandbox_request(struct sandbox *k, enum message_request request, const char *what,
			   double seconds, struct err *err)
{
	if (!k)
		return err_set(err, ECHILD, "cannot %s: the last attempt to start it failed", what);
	switch (sandbox_send(k, request, seconds)) {
	case FATE_HUNG:
		return err_set(err, ETIME, "cannot %s: it takes longer than %g seconds", what,
			       seconds);
	case FATE_ALARM: /* of kernels that can be heard; ours cannot */
	case FATE_DIED:
		return err_set(err, EIO, "cannot %s: the file system hung before", what);
	case FATE_FINE:
		break;
	}
	return channel_failure(&k->client, err);
}

void sandbox_comm(char ret[SANDBOX_COMM_MAX])
{
	snprintf(ret, SANDBOX_COMM_MAX, "assay:%d", (int)getpid());
}

/* Like fork, into new namespaces. */
static pid_t sandbox_fork(struct sandbox *k)
{
	int owner = owner_open();
	char comm[SANDBOX_COMM_MAX];
	pid_t pid;

	sandbox_comm(comm);
	pid = (pid_t)syscall(SYS_clone, k->ops.namespaces | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		prctl(PR_SET_NAME, comm);
	if (!pid)
		namespace_init_run(&k->ops, &k->options, k->own_message, owner);
	if (owner >= 0)
		close(owner);
	return pid;
}

/* The sandbox has the first turn: what it does before it passes it on is its beginning. */
static int sandbox_await_beginning(struct sandbox *k, struct err *err)
{
	double seconds = sandbox_mount_seconds(k) + REPORT_S;

	if (sandbox_await(k, seconds) == FATE_HUNG)
		return err_set(err, ETIME, "mounting takes longer than %g seconds", seconds);
	return channel_failure(&k->client, err);
}

int sandbox_start(struct sandbox **ret, const struct sandbox_ops *ops,
		  const struct sandbox_options *options, struct err *err)
{
	struct sandbox *k = must_alloc(sizeof(*k));
	int r;

	sandbox_reap_abandoned();
	k->ops = *ops;
	k->options = *options;
	k->options.outside_uid = geteuid();
	k->options.outside_gid = getegid();
	k->own_message = channel_new(sizeof(*k->own_message), MESSAGE_TEXT_MAX, MESSAGE_DATA_MAX);
	k->message = &k->own_message->message;
	if (!k->own_message) {
		free(k);
		return err_sys(err, ENOMEM, "cannot share memory");
	}
	k->client = (struct channel_client){
		.message = k->message,
		.fields = options->fields,
		.scans_parts = true,
		.deadline_seconds = options->deadline_seconds,
		.own = k,
		.send = sandbox_send,
	};
	atomic_store(&k->message->channel.turn.side, SIDE_SERVER);
	k->pid = sandbox_fork(k);
	if (k->pid < 0) {
		k->pid = 0;
		r = err_sys(err, errno, "cannot start a process in its own namespaces");
	} else {
		r = sandbox_await_beginning(k, err);
	}
	if (r)
		sandbox_stop(k);
	else
		*ret = k;
	return r;
}

void sandbox_stop(struct sandbox *k)
{
	if (!k)
		return;
	if (k->pid && k->ops.end)
		sandbox_send(k, REQUEST_END, channel_seconds(&k->client));
	if (k->pid)
		sandbox_end(k);
	channel_free(&k->message->channel);
	free(k);
}

bool sandbox_alive(const struct sandbox *k)
{
	return k && k->pid;
}

bool sandbox_oopsed(const struct sandbox *k)
{
	return k && k->ended_by == SIGSEGV;
}

const struct channel_client *sandbox_client(const struct sandbox *k)
{
	return k ? &k->client : NULL;
}

int sandbox_attach(struct sandbox *k, struct err *err)
{
	return sandbox_request(k, REQUEST_ATTACH, "mount",
			       k ? sandbox_mount_seconds(k) + REPORT_S : 0, err);
}

static int sandbox_unmount(struct sandbox *k, bool keeps_processes, struct err *err)
{
	if (k)
		k->message->keeps_processes = keeps_processes;
	return sandbox_request(k, REQUEST_DETACH, "unmount", k ? sandbox_mount_seconds(k) : 0, err);
}

int sandbox_detach(struct sandbox *k, struct err *err)
{
	return sandbox_unmount(k, false, err);
}

int sandbox_abandon(struct sandbox *k, struct err *err)
{
	int ret;

	if (k)
		k->own_message->forgets_handles = true;
	ret = sandbox_unmount(k, false, err);
	if (k)
		k->own_message->forgets_handles = false;
	return ret;
}

int sandbox_suspend(struct sandbox *k, struct err *err)
{
	return sandbox_unmount(k, true, err);
}

int sandbox_kill(struct sandbox *k, struct err *err)
{
	int ret;

	if (k)
		k->own_message->kills = true;
	ret = sandbox_unmount(k, false, err);
	if (k)
		k->own_message->kills = false;
	return ret;
}

void sandbox_kill_during(struct sandbox *k, int64_t after_ns)
{
	if (k)
		k->own_message->kill_during_ns = after_ns > 0 ? after_ns : 1;
}

int sandbox_clear(struct sandbox *k, struct err *err)
{
	return sandbox_request(k, REQUEST_CLEAR, "empty the directory",
			       k ? channel_seconds(&k->client) : 0, err);
}
