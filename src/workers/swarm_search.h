/* swarm_search.h -- a run of a swarm that is one search: what each worker does. */
#ifndef WORKERS_SWARM_SEARCH_H
#define WORKERS_SWARM_SEARCH_H

#include <jansson.h>

#include "cli/command.h"
#include "swarm/worker.h"

/* Searches in the directory, and shares what the description of the run says. *ret_done: nothing is
 * left for any worker. An exit code. */
int swarm_search_work(struct swarm_worker *w, const struct command *c, const json_t *about,
		      const char *dir, bool *ret_done, struct err *err);

#endif
