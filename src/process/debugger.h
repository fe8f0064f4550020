/* debugger.h -- gdb at the user's terminal, on a process of ours. */
#ifndef PROCESS_DEBUGGER_H
#define PROCESS_DEBUGGER_H

#include <sys/types.h>

struct err;

/* Begins it, and returns when it holds the process. It then carries out the commands, one in each
 * line, and the user's. */
int debugger_start(pid_t *ret, const char *program, pid_t pid, const char *commands,
		   struct err *err);
/* The process has done what was looked at: the user gets it as it is then, and may leave. */
void debugger_finish(pid_t debugger, pid_t pid);

#endif
