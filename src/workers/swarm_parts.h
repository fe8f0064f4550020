/* swarm_parts.h -- a run of a swarm whose work is divided in parts: doing them one by one, and what
 * all of them together have found. */
#ifndef WORKERS_SWARM_PARTS_H
#define WORKERS_SWARM_PARTS_H

#include "cli/command.h"
#include "run/run.h"
#include "swarm/work_parts.h"

/* Does parts until none is left (*ret_done) or, unless it `waits`, all are some worker's, each in a
 * separate process and directory below `dir`, which is then the directory of a run of all that this
 * worker did. An exit code. */
int swarm_parts_work(struct swarm_worker *w, const struct command *c, const json_t *about,
		     bool waits, const char *dir, bool *ret_done, struct err *err);

/* Takes over what all workers have published. Where the user did not stop the run, all has to be
 * there: else the verdict is unknown. */
int swarm_parts_collect(struct swarm_run *r, const struct command *c, bool stopped, struct run *run,
			struct err *err);

#endif
