/* merge.h -- fewer calls by leaving one out and letting the others do without what it made. */
#ifndef FINDING_MERGE_H
#define FINDING_MERGE_H

#include "base/arena.h"
#include "op/op.h"

enum { MERGE_WITHOUT_PATHS = 4, MERGE_WAYS = 7 };

/* Way `way` of doing without call i: ret gets the other calls, changed. False where the way
 * does not apply to it. Text goes to the arena. */
bool merge_call(const struct call *calls, size_t count, size_t i, unsigned way, struct call *ret,
		size_t *ret_count, struct arena *arena);

#endif
