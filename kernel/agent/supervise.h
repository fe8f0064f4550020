/* SPDX-License-Identifier: GPL-2.0 */
/* supervise.h -- a program of the host whose system calls are answered here. All of it is the
 * host's.
 *
 * What concerns only itself (memory, signals, processes) it does on its own; a filter hands every
 * other call over, with the process that made it waiting. */
#ifndef AGENT_SUPERVISE_H
#define AGENT_SUPERVISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct supervised {
	int pid;      /* and its process group */
	int listener; /* of the filter */
};

struct supervised_call {
	uint64_t id;
	int pid;
	long number, args[6];
};

enum supervised_event {
	SUPERVISED_NOTHING, /* for a while */
	SUPERVISED_CALLS,
	SUPERVISED_ENDED, /* the program has; its children may be there still */
};

/* An ELF program, statically linked, with these arguments; 0 or -errno. */
int supervised_start(struct supervised *ret, const char *program, size_t len, char *const *argv);
/* Waits for what comes next, not for long. */
enum supervised_event supervised_next(const struct supervised *s, struct supervised_call *ret_call,
				      int *ret_status);
void supervised_answer(const struct supervised *s, const struct supervised_call *c, long result);
/* The call is made by the host after all. */
void supervised_allow(const struct supervised *s, const struct supervised_call *c);
/* Ends it and all of its children that are left. */
void supervised_end(const struct supervised *s);
int64_t supervise_now_ms(void);

#endif
