// SPDX-License-Identifier: GPL-2.0
/* race.h -- calls that overlap by a schedule. */
#ifndef AGENT_RACE_H
#define AGENT_RACE_H

struct kernel_shm;
struct tasks;

/* Those of the message; outcomes are in its text, what came of the schedule on the board. */
int race_serve(struct tasks *tasks, struct kernel_shm *shm);

#endif
