/* SPDX-License-Identifier: GPL-2.0 */
/* seat.h -- waiting for one's turn, and being copied. All of it is the host's. */
#ifndef AGENT_SEAT_H
#define AGENT_SEAT_H

#include "target/hall.h"

/* The hall, which the owner has mapped and described; NULL: there is none. */
struct hall *seat_enter(void);
/* The image that the owner wants loaded, as a descriptor of the host; -ENOENT: none. */
int seat_open_image(const struct hall *hall);
/* Passes the turn to the owner and waits until it is back. Where the owner wants a copy, it is
 * the copy that returns, and this process goes on waiting. */
void seat_wait(struct hall *hall);

#endif
