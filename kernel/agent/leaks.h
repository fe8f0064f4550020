/* SPDX-License-Identifier: GPL-2.0 */
/* leaks.h -- whether calls leave memory behind: made again and again, with the file system mounted
 * before and unmounted after, they must need no more of it each time. */
#ifndef AGENT_LEAKS_H
#define AGENT_LEAKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "op/op.h"

struct leaks;

struct leaks *leaks_new(void);
/* Remembers a call; the last few dozens are. */
void leaks_note(struct leaks *l, const struct call *c);

/* What `leaks_seek` needs to be done: everything from mounting to unmounting, so that nothing is
 * left of it; false if that failed. */
struct leaks_cycle {
	void *own;
	bool (*begin)(void *own);
	void (*call)(void *own, const struct call *c);
	bool (*end)(void *own);
};

/* Makes the calls again, often enough to be sure; what grows every time is reported in *out. For a
 * copy of the kernel: it is not as it was afterwards. */
void leaks_seek(const struct leaks *l, const struct leaks_cycle *cycle, struct buf *out);

#endif
