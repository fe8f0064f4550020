/* reffs_stale.h -- a RefFS with a cache of attributes that is not kept up to date.
 *
 * Only what is asked, and in which order, shows such a fault: the tree itself is right, and looking
 * at all of it makes the cache right, too. */
#ifndef BROKEN_REFFS_STALE_H
#define BROKEN_REFFS_STALE_H

#include "broken/faults.h"

/* Ways to look at a file, or at the directory where it is. */
enum stale_look {
	STALE_LOOK_STAT = 1 << 0,
	STALE_LOOK_FSTAT = 1 << 1, /* through a descriptor */
	STALE_LOOK_LIST = 1 << 2,
	STALE_LOOK_OPEN = 1 << 3,
	STALE_LOOK_CHANGE = 1 << 4, /* no look at all: what changes its size caches it */
	STALE_LOOK_WAIT = 1 << 5,
};

struct stale_fault {
	const char *name, *text;
	unsigned fills, shows, cures; /* enum stale_look: caches a size, returns it, drops it */
	bool by_other_name; /* only a change by another name than the cached one is missed */
	bool late;          /* the cached size is returned only after waiting */
};

extern const struct stale_fault stale_fault_table[];
extern const size_t stale_fault_count;
/* NULL if there is none of that name. */
const struct stale_fault *stale_fault_find(const char *name);
void stale_fault_run(const struct stale_fault *fault, struct faulty *f, const struct call *c,
		     struct outcome *ret);

#endif
