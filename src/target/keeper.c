/* keeper.c -- starting a keeper, giving it errands, and giving it up. */
#include "target/keeper.h"

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
#include "exec/patience.h"
#include "target/errands.h"
#include "target/inside.h"

enum {
	LOOK_MS = 100,      /* how often it is looked whether the keeper lives */
	GRACE_MS = 2000,    /* for one that is told to end everyone below it */
	KILLED_MS = 500,    /* for a killed one to be gone */
	KEEPER_TELL_S = 30, /* for one that gives up mounting to say so */
};
#define MILLI INT64_C(1000000)

struct keeper {
	struct keeping keeping;
	struct keeper_options options;
	struct board *board;
	struct errands errands;
	pid_t pid;       /* 0: gone or given up */
	struct err lost; /* why, where that was none of the file system's doing */
};

/* Killed, and not gone when last looked. */
static pid_t *abandoned;
static unsigned abandoned_count;

unsigned keeper_abandoned(void)
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
static void end(struct keeper *k)
{
	int pidfd = (int)syscall(SYS_pidfd_open, k->pid, 0);

	kill(k->pid, KEEPER_END_NOW);
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
static int no_keeper(struct err *err)
{
	return err_set(err, ECHILD, "the file system was not started: the last attempt failed");
}

/* What is no answer of the file system is ours to tell, on the board as the keeper would. */
static enum target_fate tell_lost(struct keeper *k)
{
	k->board->failure = k->lost.code;
	k->board->err = k->lost;
	return FATE_FINE;
}

/* Nobody but us should end it: the file system has nothing to do with it, or the kernel says so in
 * its log. */
static enum target_fate was_killed(struct keeper *k, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : KEEPER_SIGNAL + WTERMSIG(status);

	k->pid = 0;
	if (code > KEEPER_SIGNAL)
		err_set(&k->lost, ECHILD,
			"the process that makes the calls was killed by signal %d (%s): by "
			"somebody, or for want of memory",
			code - KEEPER_SIGNAL, strsignal(code - KEEPER_SIGNAL));
	else
		err_set(&k->lost, ECHILD, "the process that makes the calls ended with status %d",
			code);
	return tell_lost(k);
}

static enum target_fate was_starved(struct keeper *k)
{
	end(k);
	err_set(&k->lost, ECHILD,
		"the process that makes the calls does not get to run: it is stopped, or the "
		"machine is too busy");
	return tell_lost(k);
}

/* For mounting, during a call or apart. */
static double mount_seconds(const struct keeper *k)
{
	double seconds = errands_seconds(&k->errands);

	return seconds > KEEPER_MOUNT_S ? seconds : KEEPER_MOUNT_S;
}

/* What the step that it is in now may take. */
static void begin_patience(struct keeper *k, struct patience *p, double seconds)
{
	if (atomic_load(&k->board->mounting))
		seconds = mount_seconds(k) + KEEPER_TELL_S;
	patience_begin(p, k->pid, (int64_t)(seconds * 1e9));
}

/* Waits until the turn is back, or the deadline of a step is over. */
static enum target_fate await(struct keeper *k, double seconds)
{
	uint32_t progress = atomic_load(&k->board->progress), now;
	struct patience patience;
	int status;

	begin_patience(k, &patience, seconds);
	while (!board_await(k->board, TURN_OWNER, LOOK_MS * MILLI)) {
		if (waitpid(k->pid, &status, WNOHANG) == k->pid)
			return was_killed(k, status);
		now = atomic_load(&k->board->progress);
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

/* Gives the turn to the keeper. */
static enum target_fate send(void *own, enum board_errand errand, double seconds)
{
	struct keeper *k = own;

	if (!k->pid)
		return k->lost.code ? tell_lost(k) : FATE_DIED;
	k->board->errand = errand;
	board_pass(k->board, TURN_KEEPER);
	return await(k, seconds);
}

static int run_errand_for(struct keeper *k, enum board_errand errand, const char *what,
			  double seconds, struct err *err)
{
	if (!k)
		return no_keeper(err);
	switch (send(k, errand, seconds)) {
	case FATE_HUNG:
		return err_set(err, ETIME, "cannot %s: it takes longer than %g seconds", what,
			       seconds);
	case FATE_ALARM: /* of kernels that can be heard; ours cannot */
	case FATE_DIED:
		return err_set(err, EIO, "cannot %s: the file system hung before", what);
	case FATE_FINE:
		break;
	}
	return errands_failure(&k->errands, err);
}

void keeper_comm(char ret[KEEPER_COMM_MAX])
{
	snprintf(ret, KEEPER_COMM_MAX, "assay:%d", (int)getpid());
}

/* Like fork, into new namespaces. */
static pid_t start_process(struct keeper *k)
{
	int owner = (int)syscall(SYS_pidfd_open, getpid(), 0);
	char comm[KEEPER_COMM_MAX];
	pid_t pid;

	keeper_comm(comm);
	pid = (pid_t)syscall(SYS_clone, k->keeping.namespaces | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		prctl(PR_SET_NAME, comm);
	if (!pid)
		keeper_stand_by(&k->keeping, &k->options, k->board, owner);
	if (owner >= 0)
		close(owner);
	return pid;
}

/* The keeper has the first turn: what it does before it passes it on is its beginning. */
static int await_beginning(struct keeper *k, struct err *err)
{
	double seconds = mount_seconds(k) + KEEPER_TELL_S;

	if (await(k, seconds) == FATE_HUNG)
		return err_set(err, ETIME, "mounting takes longer than %g seconds", seconds);
	return errands_failure(&k->errands, err);
}

int keeper_start(struct keeper **ret, const struct keeping *keeping,
		 const struct keeper_options *options, struct err *err)
{
	struct keeper *k = must_alloc(sizeof(*k));
	int r;

	keeper_abandoned(); /* reaps those that are gone by now */
	k->keeping = *keeping;
	k->options = *options;
	k->options.outside_uid = geteuid();
	k->options.outside_gid = getegid();
	k->board = board_new(err);
	if (!k->board) {
		free(k);
		return -ENOMEM;
	}
	k->errands = (struct errands){
		.board = k->board,
		.fields = options->fields,
		.deadline_seconds = options->deadline_seconds,
		.own = k,
		.send = send,
	};
	atomic_store(&k->board->turn, TURN_KEEPER);
	k->pid = start_process(k);
	if (k->pid < 0) {
		k->pid = 0;
		r = err_sys(err, errno, "cannot start a process in its own namespaces");
	} else {
		r = await_beginning(k, err);
	}
	if (r)
		keeper_stop(k);
	else
		*ret = k;
	return r;
}

void keeper_stop(struct keeper *k)
{
	if (!k)
		return;
	if (k->pid && k->keeping.end)
		send(k, ERRAND_END, errands_seconds(&k->errands));
	if (k->pid)
		end(k);
	board_free(k->board);
	free(k);
}

bool keeper_alive(const struct keeper *k)
{
	return k && k->pid;
}

int keeper_follow(struct keeper *k, const struct plan_step *steps, size_t count,
		  struct plan_end *ret, struct err *err)
{
	return k ? errands_follow(&k->errands, steps, count, ret, err) : no_keeper(err);
}

int keeper_call(struct keeper *k, const struct call *c, struct outcome *ret,
		enum target_fate *ret_fate, struct err *err)
{
	return k ? errands_call(&k->errands, c, ret, ret_fate, err) : no_keeper(err);
}

int keeper_race(struct keeper *k, const struct call *calls, size_t count, uint64_t seed,
		struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	return k ? errands_race(&k->errands, calls, count, seed, ret, ret_fate, err)
		 : no_keeper(err);
}

int keeper_observe(struct keeper *k, struct tree *ret, enum target_fate *ret_fate, struct err *err)
{
	return k ? errands_observe(&k->errands, ret, ret_fate, err) : no_keeper(err);
}

int keeper_run_program(struct keeper *k, const struct buf *program, double seconds,
		       struct program_end *ret, struct err *err)
{
	return errands_run_program(&k->errands, program, seconds, ret, err);
}

int keeper_attach(struct keeper *k, struct err *err)
{
	return run_errand_for(k, ERRAND_ATTACH, "mount", k ? mount_seconds(k) + KEEPER_TELL_S : 0,
			      err);
}

int keeper_detach(struct keeper *k, struct err *err)
{
	return run_errand_for(k, ERRAND_DETACH, "unmount", k ? mount_seconds(k) : 0, err);
}

int keeper_clear(struct keeper *k, struct err *err)
{
	return run_errand_for(k, ERRAND_CLEAR, "empty the directory",
			      k ? errands_seconds(&k->errands) : 0, err);
}
