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
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "target/errands.h"
#include "target/inside.h"

enum {
	LOOK_MS = 100,  /* how often it is looked whether the keeper lives */
	GRACE_MS = 2000, /* for one that is told to end everyone below it */
	KILLED_MS = 500, /* for a killed one to be gone */
};
#define MILLI INT64_C(1000000)

struct keeper {
	struct keeping keeping;
	struct keeper_options options;
	struct board *board;
	struct errands errands;
	pid_t pid; /* 0: gone or given up */
};

/* Killed, and not gone when last looked. */
static pid_t *abandoned;
static unsigned abandoned_count;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

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

/* Gives the turn to the keeper and waits until it is back, or the deadline of a step is over. */
static enum target_fate send(void *own, enum board_errand errand, double seconds)
{
	struct keeper *k = own;
	int64_t limit_ns = (int64_t)(seconds * 1e9), since_ns = now_ns();
	uint32_t progress = atomic_load(&k->board->progress), now;

	if (!k->pid)
		return FATE_DIED;
	k->board->errand = errand;
	board_pass(k->board, TURN_KEEPER);
	while (!board_await(k->board, TURN_OWNER, LOOK_MS * MILLI)) {
		if (waitpid(k->pid, NULL, WNOHANG) == k->pid) {
			k->pid = 0;
			return FATE_DIED;
		}
		now = atomic_load(&k->board->progress);
		if (now != progress) {
			progress = now;
			since_ns = now_ns();
		} else if (now_ns() - since_ns > limit_ns) {
			end(k);
			return FATE_HUNG;
		}
	}
	return FATE_FINE;
}

static int run_errand(struct keeper *k, enum board_errand errand, const char *what, struct err *err)
{
	if (!k->pid)
		return err_set(err, EIO, "cannot %s: the keeper of the file system is gone", what);
	switch (send(k, errand, errands_seconds(&k->errands))) {
	case FATE_HUNG:
		return err_set(err, ETIME, "cannot %s: it takes longer than %g seconds", what,
			       errands_seconds(&k->errands));
	case FATE_ALARM: /* of kernels that can be heard; ours cannot */
	case FATE_DIED:
		return err_set(err, EIO, "cannot %s: the keeper of the file system died", what);
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
	int64_t until_ns = now_ns() + (int64_t)(errands_seconds(&k->errands) * 1e9);

	while (!board_await(k->board, TURN_OWNER, LOOK_MS * MILLI)) {
		if (waitpid(k->pid, NULL, WNOHANG) == k->pid) {
			k->pid = 0;
			return err_set(err, EIO, "the keeper of the file system died at once");
		}
		if (now_ns() > until_ns)
			return err_set(err, ETIME, "mounting takes longer than %g seconds",
				       errands_seconds(&k->errands));
	}
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
	return errands_follow(&k->errands, steps, count, ret, err);
}

int keeper_call(struct keeper *k, const struct call *c, struct outcome *ret,
		enum target_fate *ret_fate, struct err *err)
{
	return errands_call(&k->errands, c, ret, ret_fate, err);
}

int keeper_race(struct keeper *k, const struct call *calls, size_t count, uint64_t seed,
		struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	return errands_race(&k->errands, calls, count, seed, ret, ret_fate, err);
}

int keeper_observe(struct keeper *k, struct tree *ret, enum target_fate *ret_fate, struct err *err)
{
	return errands_observe(&k->errands, ret, ret_fate, err);
}

int keeper_run_program(struct keeper *k, const struct buf *program, double seconds,
		       struct program_end *ret, struct err *err)
{
	return errands_run_program(&k->errands, program, seconds, ret, err);
}

int keeper_attach(struct keeper *k, struct err *err)
{
	return run_errand(k, ERRAND_ATTACH, "mount", err);
}

int keeper_detach(struct keeper *k, struct err *err)
{
	return run_errand(k, ERRAND_DETACH, "unmount", err);
}

int keeper_clear(struct keeper *k, struct err *err)
{
	return run_errand(k, ERRAND_CLEAR, "empty the directory", err);
}
