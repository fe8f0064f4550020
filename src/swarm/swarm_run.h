/* swarm_run.h -- a run on the server: its description, who works on it, its end.
 *
 * All of it is on the server: a process that starts, looks or stops keeps nothing. */
#ifndef SWARM_SWARM_RUN_H
#define SWARM_SWARM_RUN_H

#include <jansson.h>

#include "swarm/worker.h"

struct swarm_run {
	struct redis_net net;
	struct swarm_names names;
	json_t *about; /* {args: [...], fingerprint: "...", shards, diverse, seed, started} */
};

/* Connects. The server must keep what it is given (no eviction); *ret_warning: what else is to be
 * said of it, or NULL. */
int swarm_run_open(struct swarm_run *r, const struct redis_url *u, const char *name,
		   const char **ret_warning, struct err *err);
void swarm_run_close(struct swarm_run *r);
bool swarm_run_is_open(const struct swarm_run *r);
/* After the server was lost. */
int swarm_run_reopen(struct swarm_run *r, const struct redis_url *u, struct err *err);

/* Puts the description there; where one is, it is read instead. Takes over `about`. */
int swarm_run_make(struct swarm_run *r, json_t *about, bool *ret_made, struct err *err);
/* -ENOENT: there is no such run. */
int swarm_run_read(struct swarm_run *r, struct err *err);
/* The names of all runs of the server. */
int swarm_run_list(const struct redis_url *u, json_t **ret, struct err *err);
/* The only run of the server that has not ended; -ENOENT, or -EEXIST if there are several. */
int swarm_run_find(const struct redis_url *u, char ret[RUN_NAME_MAX + 1], struct err *err);

/* A sign of life of worker `number`. *ret_stopped: the run is to end. */
int swarm_run_beat(struct swarm_run *r, uint64_t number, double dead_seconds, bool *ret_stopped,
		   struct err *err);
/* The worker is no more: what it had taken is free. */
int swarm_run_bury(struct swarm_run *r, uint64_t number, struct err *err);
/* All are to end. */
int swarm_run_stop(struct swarm_run *r, struct err *err);
int swarm_run_is_stopped(struct swarm_run *r, bool *ret, struct err *err);
int swarm_run_living(struct swarm_run *r, uint64_t *ret, struct err *err);
/* Removes everything of the run. */
int swarm_run_remove(struct swarm_run *r, struct err *err);

#endif
