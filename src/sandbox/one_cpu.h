/* one_cpu.h -- a process and all it starts on one CPU.
 *
 * A caller and the daemon that serves it take turns. On one CPU a turn is a switch; on two it
 * wakes a sleeping CPU by an interrupt, which in a virtual machine takes ten times as long. */
#ifndef SANDBOX_ONE_CPU_H
#define SANDBOX_ONE_CPU_H

/* A number that spreads over the CPUs those that would run beside each other: the targets of a
 * process, and the processes of a crowd. */
unsigned one_cpu_choose(void);
/* This process, and those it starts from now on, stay on one of the CPUs it may use. */
void one_cpu_stay(unsigned choice);

#endif
