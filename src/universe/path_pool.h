/* path_pool.h -- the paths of a universe: its names joined up to its depth. */
#ifndef UNIVERSE_PATH_POOL_H
#define UNIVERSE_PATH_POOL_H

#include "universe/pool.h"

struct path_shape {
	const char *names;      /* "a b f{1..9}" */
	uint64_t depth, width;  /* width 0: every name may be a directory's */
	const char *long_names; /* lengths */
};

int path_pool(struct pool *ret, const struct path_shape *shape, struct arena *arena,
	      struct err *err);

#endif
