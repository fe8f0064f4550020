/* exec_call.c -- what a call costs beyond its system call: in this process, and by a worker. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/must.h"
#include "sandbox/crew.h"

enum { CALLS = 20000, ROUNDS = 25 };

struct exec_bench {
	struct caller *self;
	struct crew *crew;
	struct call call;
};

static void make_bare_calls(struct exec_bench *b)
{
	struct statx st;

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_BASIC_STATS | STATX_BTIME, &st);
}

static void by_this_process(struct exec_bench *b)
{
	struct outcome outcome;

	for (int i = 0; i < CALLS; i++)
		caller_call(b->self, &b->call, &outcome);
}

static void by_worker(struct exec_bench *b)
{
	struct outcome outcome;
	struct err err = { 0 };

	for (int i = 0; i < CALLS; i++)
		if (crew_call(b->crew, &b->call, &outcome, &err))
			exit(1);
}

static void by_worker_in_batches(struct exec_bench *b)
{
	struct outcome outcomes[SYSCALL_BATCH_MAX];
	struct call calls[SYSCALL_BATCH_MAX];
	struct err err = { 0 };
	size_t done;

	for (int i = 0; i < SYSCALL_BATCH_MAX; i++)
		calls[i] = b->call;
	for (int i = 0; i < CALLS; i += (int)done)
		if (crew_batch(b->crew, calls, SYSCALL_BATCH_MAX, outcomes, &done, &err))
			exit(1);
}

static const struct {
	const char *name;
	void (*run)(struct exec_bench *b);
} ways[] = {
	{ "statx alone", make_bare_calls },
	{ "in this process", by_this_process },
	{ "by a worker", by_worker },
	{ "by a worker, in batches", by_worker_in_batches },
};

/* The best of many short rounds, taken in turn: what else runs here disturbs each alike. */
static void measure_exec(struct exec_bench *b, double best_ns[])
{
	double began, ns;

	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
			began = clock_seconds();
			ways[i].run(b);
			ns = (clock_seconds() - began) / CALLS * 1e9;
			if (!round || ns < best_ns[i])
				best_ns[i] = ns;
		}
	}
}

int main(void)
{
	int root_fd = open("/", O_RDONLY | O_DIRECTORY);
	struct exec_bench b = {
		.self = caller_new(root_fd),
		.call = { .op = OP_stat, .pid = 1, .stat.path = { .text = "/", .len = 1 } },
	};
	double best_ns[ARRAY_LEN(ways)];
	struct err err = { 0 };

	if (crew_open(&b.crew, root_fd, &(struct crew_options){ .no_chroot = true }, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	measure_exec(&b, best_ns);
	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		printf("%-24s %6.0f ns %6.2f times\n", ways[i].name, best_ns[i],
		       best_ns[i] / best_ns[0]);
	crew_close(b.crew);
	caller_free(b.self);
	return 0;
}
