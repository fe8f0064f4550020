// SPDX-License-Identifier: GPL-2.0
/* people.h -- the processes of a script, as tasks of the kernel under test. */
#ifndef AGENT_PEOPLE_H
#define AGENT_PEOPLE_H

#include "exec/exec.h"

struct people;

struct people *people_new(void);
/* In the root of the file system: process 1 is the calling task. Others that there were before
 * people_leave() are there again, with users, groups and masks as they were. */
int people_enter(struct people *p, int root_fd);
/* Everything is closed, and nobody stands anywhere in the file system. */
void people_leave(struct people *p);
/* A call of a script, of the kinds that are neither ENV nor unknown processes'. */
int people_call(struct people *p, const struct call *c, struct outcome *ret, struct err *err);

#endif
