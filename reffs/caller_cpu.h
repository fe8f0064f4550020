/* caller_cpu.h -- a server thread follows its caller to the CPU of the caller.
 *
 * Caller and server take turns. On one CPU a turn is a switch; on two it wakes a sleeping CPU by
 * an interrupt, which in a virtual machine takes ten times as long. The kernel spreads the two
 * over idle CPUs nevertheless. Only the caller knows whether it has other work for those, so the
 * server follows only a caller that has bound itself to a single CPU. */
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
/* Called before a request of that process is served; 0: no process waits for it. */
void caller_cpu_follow(struct seat *s, uint32_t pid);

#endif
