/* turn.h -- what it takes two processes on one CPU to take turns: a request to a FUSE daemon and
 * its answer are at least that. */
#ifndef BENCH_TURN_H
#define BENCH_TURN_H

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/must.h"

enum { TURNS = 2000, TURN_TRIES = 5 };

/* This process and its children stay where it is. */
static inline void stay_on_one_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	must(!sched_setaffinity(0, sizeof(one), &one));
}

/* A byte there and back by pipes, in seconds: the best of a few tries, the others were disturbed.
 * The process must be on one CPU. */
static inline double turn_seconds(void)
{
	int there[2], back[2];
	double least = 1, start, spent;
	char byte = 0;
	pid_t pid;

	must(!pipe(there) && !pipe(back));
	pid = fork();
	if (!pid) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1)
			must(write(back[1], &byte, 1) == 1);
		_exit(0);
	}
	for (int try = 0; try < TURN_TRIES; try++) {
		start = clock_seconds();
		for (int i = 0; i < TURNS; i++)
			must(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1);
		spent = (clock_seconds() - start) / TURNS;
		least = spent < least ? spent : least;
	}
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
	waitpid(pid, NULL, 0);
	return least;
}

#endif
