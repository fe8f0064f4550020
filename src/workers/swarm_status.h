/* swarm_status.h -- how far a run of a swarm is. */
#ifndef WORKERS_SWARM_STATUS_H
#define WORKERS_SWARM_STATUS_H

#include "swarm/swarm_run.h"

int swarm_status(struct swarm_run *r, bool in_parts, json_t **ret, struct err *err);
/* For people. */
void swarm_status_print(const json_t *status);

#endif
