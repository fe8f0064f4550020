/* serve.c -- the fork server: a checker stops where it opens the disk first, and is copied for
 * every run.
 *
 * Dynamic linking, locales and options are done by then, and no byte of the disk has been seen. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload.h"

enum { FRUITLESS_MAX = 4 };

static void serve_wait_while(uint32_t turn)
{
	syscall(SYS_futex, &preload_control->turn, FUTEX_WAIT, turn, NULL, NULL, 0);
}

void serve_pass_turn(enum control_turn turn)
{
	atomic_store(&preload_control->turn, turn);
	syscall(SYS_futex, &preload_control->turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void serve_await_request(void)
{
	uint32_t turn;

	while ((turn = atomic_load(&preload_control->turn)) != CONTROL_RUN) {
		if (turn == CONTROL_END)
			syscall(SYS_exit_group, 0);
		serve_wait_while(turn);
	}
}

static uint64_t serve_us(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

/* What a run started and left behind has become our child. */
static bool serve_has_children(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0);
	return !pid;
}

/* A copy whose run has ended reports for itself. */
static int serve_await_end(pid_t pid)
{
	struct control *c = preload_control;
	struct rusage used = { 0 };
	int status = 0;

	while (wait4(pid, &status, 0, &used) < 0 && errno == EINTR)
		;
	if (!c->busy)
		return status;
	c->status = status;
	c->cpu_us = serve_us(used.ru_utime) + serve_us(used.ru_stime);
	c->max_rss_kb = (uint64_t)used.ru_maxrss;
	c->left_processes = serve_has_children();
	c->busy = false;
	serve_pass_turn(CONTROL_DONE);
	return status;
}

/* The server's own time must not count. */
static void serve_bound_time(void)
{
	struct rlimit limit = { preload_control->cpu_seconds_max,
				preload_control->cpu_seconds_max + 1 };

	setrlimit(RLIMIT_CPU, &limit);
}

/* A copy takes time to be made ready for several runs; not where it never could. */
static void serve_begin(unsigned fruitless)
{
	if (fruitless < FRUITLESS_MAX && rewind_prepare()) {
		rewind_begin();
	} else {
		preload_control->busy = true;
		serve_bound_time();
	}
}

void serve_runs(void)
{
	struct control *c = preload_control;
	unsigned fruitless = 0;
	uint64_t rewound;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	warm_code();
	serve_pass_turn(CONTROL_READY);
	for (;;) {
		serve_await_request();
		rewound = c->rewound;
		pid = preload_next()->fork();
		if (!pid) {
			serve_begin(fruitless);
			return;
		}
		if (pid < 0)
			_exit(127);
		if (WIFEXITED(serve_await_end(pid)) && c->rewound == rewound)
			fruitless++;
	}
}
