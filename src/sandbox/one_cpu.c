/* one_cpu.c -- a process and all it starts on one CPU. */
#include "sandbox/one_cpu.h"

#include <sched.h>
#include <unistd.h>

unsigned one_cpu_choose(void)
{
	static unsigned chosen;

	return (unsigned)getpid() + chosen++;
}

/* Where it is not allowed things are only slower. */
void one_cpu_stay(unsigned choice)
{
	cpu_set_t all, one;
	unsigned left;

	if (sched_getaffinity(0, sizeof(all), &all))
		return;
	left = choice % (unsigned)CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && !left--)
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}
