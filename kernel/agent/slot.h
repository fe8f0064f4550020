/* SPDX-License-Identifier: GPL-2.0 */
/* slot.h -- waiting for one's turn, and being copied. All of it is the host's. */
#ifndef AGENT_SLOT_H
#define AGENT_SLOT_H

#include "snapshot/protocol.h"

/* The shm, which the owner has mapped and described; NULL: there is none. */
struct kernel_shm *slot_enter(void);
/* Passes the turn to the owner and waits until it is back. Where the owner wants a copy, it is
 * the copy that returns, and this process continues to wait. */
void slot_wait(struct kernel_shm *shm);

#endif
