/* swarm_work.h -- `assay swarm work`: workers of this machine. */
#ifndef WORKERS_SWARM_WORK_H
#define WORKERS_SWARM_WORK_H

#include "run/run.h"
#include "workers/swarm_session.h"

/* A worker with another program, model or kernel would verify something else. */
int swarm_check_fingerprint(const struct swarm *s, struct err *err);
/* So many processes, until nothing is left; what they did is in the run `local`. */
int swarm_work_here(struct swarm *s, struct run *local, unsigned jobs, struct err *err);
/* The command, by its options. An exit code. */
int swarm_work(struct err *err);

#endif
