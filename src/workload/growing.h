/* growing.h -- a workload that is made call by call, beside the model. */
#ifndef WORKLOAD_GROWING_H
#define WORKLOAD_GROWING_H

#include "base/arena.h"
#include "base/rng.h"
#include "model/model.h"

struct growing {
	const struct model *model;
	struct state state; /* behind the last call */
	struct rng rng;
	struct arena *arena; /* of the calls */
	struct call *calls;
	size_t count, cap;
};

/* Room for `cap` calls, from a state on. */
void growing_begin(struct growing *g, const struct model *model, const struct state *start,
		   size_t cap, uint64_t seed, struct arena *arena);
void growing_end(struct growing *g);

struct outcome growing_add(struct growing *g, const struct call *c);
/* Calls of process 1, each on its line. False if one of them fails: then none is added. */
bool growing_add_lines(struct growing *g, const char *lines);
/* open, fsync or fdatasync, close, of a file or directory: of those that are not as in `before`,
 * where there are any; NULL: of all. Nothing is added if it cannot be opened. */
enum { GROWING_SYNC_CALLS = 3 };
void growing_sync_object(struct growing *g, const struct tree *before);
/* The same of the file or directory with this path ("/A/foo"). False if there is none. */
bool growing_sync_path(struct growing *g, const char *path);
/* The same, and by which of the two calls. */
bool growing_sync_path_by(struct growing *g, const char *path, bool datasync);

#endif
