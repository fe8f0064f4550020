/* simplify.h -- simpler arguments for calls, one change at a time.
 *
 * Every candidate is simpler by a measure that cannot fall for ever (smaller numbers, fewer
 * flags, shorter paths), so taking candidates ends. */
#ifndef FINDING_SIMPLIFY_H
#define FINDING_SIMPLIFY_H

#include "base/arena.h"
#include "op/op.h"

struct simplify {
	const struct call *base; /* what is to be simplified */
	size_t count;
	struct call *calls;     /* the candidate: as many calls */
	size_t call, arg, next; /* position: which argument, which of its candidates */
	struct arena arena;
};

/* Begins at the position that s holds (zeroed: the beginning). */
void simplify_start(struct simplify *s, const struct call *base, size_t count);
/* The next candidate in s->calls; false behind the last. */
bool simplify_next(struct simplify *s);
void simplify_end(struct simplify *s);

#endif
