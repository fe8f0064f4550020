/* caller_cpu.h -- a thread that serves sits on the CPU of the one it serves.
 *
 * Caller and server take turns. On one CPU a turn is a switch; on two it wakes a sleeping CPU by
 * an interrupt, which in a virtual machine takes ten times as long. The kernel spreads the two
 * over idle CPUs nevertheless. Nobody but a caller knows whether it has other work for those, so
 * only one that has bound itself to a single CPU is followed there. */
#ifndef REFFS_CALLER_CPU_H
#define REFFS_CALLER_CPU_H

#include <sched.h>
#include <stdint.h>

struct seat {
	cpu_set_t all;   /* where the thread may be */
	int cpu;         /* where it is bound to, -1: nowhere */
	uint32_t pid;    /* whom it served last */
	unsigned served; /* how often in a row */
};

void seat_init(struct seat *s);
/* Before a request of that process is served; 0: of nobody who waits. */
void caller_cpu_follow(struct seat *s, uint32_t pid);

#endif
