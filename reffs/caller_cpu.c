/* caller_cpu.c -- a thread that serves sits on the CPU of the one it serves. */
#include "reffs/caller_cpu.h"

/* Callers seldom change their minds: one is asked again after so many requests. */
enum { TRUST = 64 };

void seat_init(struct seat *s)
{
	*s = (struct seat){ .cpu = -1 };
	if (sched_getaffinity(0, sizeof(s->all), &s->all))
		CPU_ZERO(&s->all);
}

/* The only CPU the process may use, of those we may; -1: there are several, or it is gone. */
static int only_cpu(const struct seat *s, uint32_t pid)
{
	cpu_set_t set;

	if (sched_getaffinity((pid_t)pid, sizeof(set), &set) || CPU_COUNT(&set) != 1)
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			return CPU_ISSET(cpu, &s->all) ? cpu : -1;
	return -1;
}

void caller_cpu_follow(struct seat *s, uint32_t pid)
{
	cpu_set_t one;
	int cpu;

	if (!pid || (pid == s->pid && s->served++ % TRUST))
		return;
	s->pid = pid;
	s->served = 1;
	cpu = only_cpu(s, pid);
	if (cpu == s->cpu)
		return;
	CPU_ZERO(&one);
	if (cpu >= 0)
		CPU_SET(cpu, &one);
	if (!sched_setaffinity(0, sizeof(one), cpu < 0 ? &s->all : &one))
		s->cpu = cpu;
}
