// SPDX-License-Identifier: GPL-2.0
/* tasks.h -- the processes of a script, as tasks of the kernel under test. */
#ifndef AGENT_TASKS_H
#define AGENT_TASKS_H

#include "syscall/syscall.h"

struct assay_overlap;
struct err;
struct outcome;
struct race_outcome;
struct tasks;

struct tasks *tasks_new(void);
/* In the root of the file system: process 1 is the calling task. Others that there were before
 * tasks_leave() are there again, with users, groups and masks as they were. */
int tasks_enter(struct tasks *p, int root_fd);
/* Closes everything: no task has a working directory in the file system. */
void tasks_leave(struct tasks *p);
/* Calls of up to three processes other than the first, each one's in their order and all of them at
 * once by the schedule on the board. Bytes of outcomes are kept by `keep`. */
int tasks_race(struct tasks *p, const struct call *calls, size_t count, struct assay_overlap *board,
	       struct race_outcome *ret, bool (*keep)(void *own, struct outcome *outcome),
	       void *own, struct err *err);
/* A call of a script, of the kinds that are neither ENV nor unknown processes'. */
int tasks_call(struct tasks *p, const struct call *c, struct outcome *ret, struct err *err);

#endif
