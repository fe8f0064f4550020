/* touched.h -- what a call can have touched, by its arguments and the model's states around it. */
#ifndef PLAN_TOUCHED_H
#define PLAN_TOUCHED_H

#include "base/arena.h"
#include "channel/request.h"
#include "model/model.h"

/* The objects that the call names or changes, by all their names, names that are gone, and the
 * directories that it names something in, for a look at a part of the tree (plan_step.part).
 * `times` is what is expected of the times. NULL: it may have touched anything. The text is the
 * arena's. */
const char *touched_paths(const struct state *before, const struct state *after,
			  const struct call *c, const struct times_expected *times,
			  struct arena *arena, size_t *ret_len);

#endif
