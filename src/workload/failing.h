/* failing.h -- a workload in which a write to the disk fails.
 *
 * It fails within one of the calls that make something durable. That call is made once more, as
 * programs do that got an error; and at the end another file is made and synced, of which the
 * failure says nothing. What all these calls may promise: persistence/failed.h. */
#ifndef WORKLOAD_FAILING_H
#define WORKLOAD_FAILING_H

#include "base/arena.h"
#include "model/model.h"
#include "workload/workload.h"

/* Which call, and which of its writes, follows from the seed. False if no call makes anything
 * durable. In memory of the arena; calls of the workload stay the caller's. */
bool failing_workload(const struct model *model, const struct state *start,
		      const struct workload *w, uint64_t seed, struct arena *arena,
		      struct workload *ret);

#endif
