/* exec_call.c -- what a call costs beyond its system call: in this process, and by a worker. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "exec/exec.h"

enum { CALLS = 300000 };

static double per_call_ns(double began)
{
	return (clock_seconds() - began) / CALLS * 1e9;
}

static double bare(void)
{
	double began = clock_seconds();
	struct statx st;

	for (int i = 0; i < CALLS; i++)
		syscall(SYS_statx, AT_FDCWD, "/", 0, STATX_BASIC_STATS | STATX_BTIME, &st);
	return per_call_ns(began);
}

static double by_this_process(struct exec_self *self, const struct call *c)
{
	double began = clock_seconds();
	struct outcome outcome;

	for (int i = 0; i < CALLS; i++)
		exec_self_call(self, c, &outcome);
	return per_call_ns(began);
}

static double by_worker(struct exec_crew *crew, const struct call *c)
{
	double began = clock_seconds();
	struct outcome outcome;
	struct err err = { 0 };

	for (int i = 0; i < CALLS; i++)
		if (exec_crew_call(crew, c, &outcome, &err))
			exit(1);
	return per_call_ns(began);
}

int main(void)
{
	int root_fd = open("/", O_RDONLY | O_DIRECTORY);
	struct call c = { .op = OP_stat, .pid = 1, .stat.path = { .text = "/", .len = 1 } };
	struct exec_self *self = exec_self_new(root_fd);
	struct exec_crew *crew;
	struct err err = { 0 };
	double base, own;

	if (exec_crew_open(&crew, root_fd, &(struct exec_options){ .no_chroot = true }, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	base = bare();
	own = by_this_process(self, &c);
	printf("statx           %6.0f ns\n", base);
	printf("in this process %6.0f ns, %.2f times, %.0f ns more\n", own, own / base, own - base);
	own = by_worker(crew, &c);
	printf("by a worker     %6.0f ns, %.2f times\n", own, own / base);
	exec_crew_close(crew);
	exec_self_free(self);
	return 0;
}
