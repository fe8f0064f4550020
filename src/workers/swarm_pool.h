/* swarm_pool.h -- workers that serve every run of a server, whenever it is started. */
#ifndef WORKERS_SWARM_POOL_H
#define WORKERS_SWARM_POOL_H

#include "run/run.h"
#include "swarm/redis_url.h"

struct swarm_pool {
	const struct redis_url *url;
	double dead_seconds, patience_seconds;
	/* Works on a run with one process, in a directory, until it finds nothing to do. An exit
	 * code. */
	int (*work)(const char *name, const char *dir, struct err *err);
};

/* So many workers, in DIR/job-0 and so on, until a request to stop. */
int swarm_pool_serve(const struct swarm_pool *p, struct run *run, unsigned workers,
		     struct err *err);

#endif
