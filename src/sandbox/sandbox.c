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

#include "base/err.h"
#include "base/must.h"
#include "channel/client.h"
#include "sandbox/patience.h"
#include "sandbox/sandbox_server.h"

enum {
	LOOK_MS = 100,       /* how often it is looked whether the sandbox lives */
	GRACE_MS = 2000,     /* for one that is told to end everyone below it */
	KILLED_MS = 500,     /* for a killed one to be gone */
	SANDBOX_TELL_S = 30, /* for one that gives up mounting to say so */
};
#define MILLI INT64_C(1000000)

struct sandbox {
	struct sandbox_ops keeping;
	struct sandbox_options options;
	struct channel *channel;
	struct channel_client requests;
	pid_t pid;       /* 0: gone or given up */
	struct err lost; /* why, where that was none of the file system's doing */
};

/* Killed, and not gone when last looked. */
static pid_t *abandoned;
static unsigned abandoned_count;

unsigned sandbox_abandoned(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < abandoned_count; i++)
		if (!waitpid(abandoned[i], NULL, WNOHANG))
			abandoned[kept++] = abandoned[i];
	abandoned_count = kept;
	return kept;
}

static bool is_gone_within(int pidfd, int ms)
{
	struct pollfd gone = { .fd = pidfd, .events = POLLIN };
	int ret;

	while ((ret = poll(&gone, 1, ms)) < 0 && errno == EINTR)
		;
	return ret > 0;
}

/* Ends it and everyone below it; one that the kernel does not let go is left behind. */
static void end(struct sandbox *k)
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

/* One that could not be started again. */
static int no_sandbox(struct err *err)
{
	return err_set(err, ECHILD, "the file system was not started: the last attempt failed");
}

/* What is no answer of the file system is ours to tell, on the channel as the sandbox would. */
static enum target_fate tell_lost(struct sandbox *k)
{
	k->channel->failure = k->lost.code;
	k->channel->err = k->lost;
	return FATE_FINE;
}

/* Nobody but us should end it: the file system has nothing to do with it, or the kernel says so in
 * its log. */
static enum target_fate was_killed(struct sandbox *k, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : SANDBOX_SIGNAL + WTERMSIG(status);

	k->pid = 0;
	if (code > SANDBOX_SIGNAL)
		err_set(&k->lost, ECHILD,
			"the process that makes the calls was killed by signal %d (%s): by "
			"somebody, or for want of memory",
			code - SANDBOX_SIGNAL, strsignal(code - SANDBOX_SIGNAL));
	else
		err_set(&k->lost, ECHILD, "the process that makes the calls ended with status %d",
			code);
	return tell_lost(k);
}

static enum target_fate was_starved(struct sandbox *k)
{
	end(k);
	err_set(&k->lost, ECHILD,
		"the process that makes the calls does not get to run: it is stopped, or the "
		"machine is too busy");
	return tell_lost(k);
}

/* For mounting, during a call or apart. */
static double mount_seconds(const struct sandbox *k)
{
	double seconds = channel_seconds(&k->requests);

	return seconds > SANDBOX_MOUNT_S ? seconds : SANDBOX_MOUNT_S;
}

/* What the step that it is in now may take. */
static void begin_patience(struct sandbox *k, struct patience *p, double seconds)
{
	if (atomic_load(&k->channel->mounting))
		seconds = mount_seconds(k) + SANDBOX_TELL_S;
	patience_begin(p, k->pid, (int64_t)(seconds * 1e9));
}

/* Waits until the turn is back, or the deadline of a step is over. */
static enum target_fate await(struct sandbox *k, double seconds)
{
	uint32_t progress = atomic_load(&k->channel->progress), now;
	struct patience patience;
	int status;

	begin_patience(k, &patience, seconds);
	while (!channel_await(k->channel, TURN_CLIENT, LOOK_MS * MILLI)) {
		if (waitpid(k->pid, &status, WNOHANG) == k->pid)
			return was_killed(k, status);
		now = atomic_load(&k->channel->progress);
		if (now != progress) {
			progress = now;
			begin_patience(k, &patience, seconds);
			continue;
		}
		switch (patience_look(&patience)) {
		case PATIENCE_LEFT:
			break;
		case PATIENCE_OVER:
			end(k);
			return FATE_HUNG;
		case PATIENCE_STARVED:
			return was_starved(k);
		}
	}
	return FATE_FINE;
}

/* Gives the turn to the sandbox. */
static enum target_fate send(void *own, enum channel_request request, double seconds)
{
	struct sandbox *k = own;

	if (!k->pid)
		return k->lost.code ? tell_lost(k) : FATE_DIED;
	k->channel->request = request;
	channel_pass(k->channel, TURN_SERVER);
	return await(k, seconds);
}

static int run_request_for(struct sandbox *k, enum channel_request request, const char *what,
			   double seconds, struct err *err)
{
	if (!k)
		return no_sandbox(err);
	switch (send(k, request, seconds)) {
	case FATE_HUNG:
		return err_set(err, ETIME, "cannot %s: it takes longer than %g seconds", what,
			       seconds);
	case FATE_ALARM: /* of kernels that can be heard; ours cannot */
	case FATE_DIED:
		return err_set(err, EIO, "cannot %s: the file system hung before", what);
	case FATE_FINE:
		break;
	}
	return channel_failure(&k->requests, err);
}

void sandbox_comm(char ret[SANDBOX_COMM_MAX])
{
	snprintf(ret, SANDBOX_COMM_MAX, "assay:%d", (int)getpid());
}

/* Like fork, into new namespaces. */
static pid_t start_process(struct sandbox *k)
{
	int owner = (int)syscall(SYS_pidfd_open, getpid(), 0);
	char comm[SANDBOX_COMM_MAX];
	pid_t pid;

	sandbox_comm(comm);
	pid = (pid_t)syscall(SYS_clone, k->keeping.namespaces | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		prctl(PR_SET_NAME, comm);
	if (!pid)
		namespace_init_run(&k->keeping, &k->options, k->channel, owner);
	if (owner >= 0)
		close(owner);
	return pid;
}

/* The sandbox has the first turn: what it does before it passes it on is its beginning. */
static int await_beginning(struct sandbox *k, struct err *err)
{
	double seconds = mount_seconds(k) + SANDBOX_TELL_S;

	if (await(k, seconds) == FATE_HUNG)
		return err_set(err, ETIME, "mounting takes longer than %g seconds", seconds);
	return channel_failure(&k->requests, err);
}

int sandbox_start(struct sandbox **ret, const struct sandbox_ops *keeping,
		  const struct sandbox_options *options, struct err *err)
{
	struct sandbox *k = must_alloc(sizeof(*k));
	int r;

	sandbox_abandoned(); /* reaps those that are gone by now */
	k->keeping = *keeping;
	k->options = *options;
	k->options.outside_uid = geteuid();
	k->options.outside_gid = getegid();
	k->channel = channel_new(err);
	if (!k->channel) {
		free(k);
		return -ENOMEM;
	}
	k->requests = (struct channel_client){
		.channel = k->channel,
		.fields = options->fields,
		.deadline_seconds = options->deadline_seconds,
		.own = k,
		.send = send,
	};
	atomic_store(&k->channel->turn, TURN_SERVER);
	k->pid = start_process(k);
	if (k->pid < 0) {
		k->pid = 0;
		r = err_sys(err, errno, "cannot start a process in its own namespaces");
	} else {
		r = await_beginning(k, err);
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
	if (k->pid && k->keeping.end)
		send(k, REQUEST_END, channel_seconds(&k->requests));
	if (k->pid)
		end(k);
	channel_free(k->channel);
	free(k);
}

bool sandbox_alive(const struct sandbox *k)
{
	return k && k->pid;
}

int sandbox_follow(struct sandbox *k, const struct plan_step *steps, size_t count,
		   struct plan_end *ret, struct err *err)
{
	return k ? channel_follow(&k->requests, steps, count, ret, err) : no_sandbox(err);
}

int sandbox_call(struct sandbox *k, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err)
{
	return k ? channel_call(&k->requests, c, ret, ret_fate, err) : no_sandbox(err);
}

int sandbox_race(struct sandbox *k, const struct call *calls, size_t count, uint64_t seed,
		 struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	return k ? channel_race(&k->requests, calls, count, seed, ret, ret_fate, err)
		 : no_sandbox(err);
}

int sandbox_observe(struct sandbox *k, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err)
{
	return k ? channel_observe(&k->requests, ret, ret_fate, err) : no_sandbox(err);
}

int sandbox_admits(const struct sandbox *k, const struct call *c, struct err *err)
{
	return k ? limits_admit(&k->channel->limits, c, err) : no_sandbox(err);
}

int sandbox_run_program(struct sandbox *k, const struct buf *program, double seconds,
			struct program_end *ret, struct err *err)
{
	return channel_run_program(&k->requests, program, seconds, ret, err);
}

int sandbox_attach(struct sandbox *k, struct err *err)
{
	return run_request_for(k, REQUEST_ATTACH, "mount",
			       k ? mount_seconds(k) + SANDBOX_TELL_S : 0, err);
}

int sandbox_detach(struct sandbox *k, struct err *err)
{
	return run_request_for(k, REQUEST_DETACH, "unmount", k ? mount_seconds(k) : 0, err);
}

int sandbox_clear(struct sandbox *k, struct err *err)
{
	return run_request_for(k, REQUEST_CLEAR, "empty the directory",
			       k ? channel_seconds(&k->requests) : 0, err);
}
