/* swarm_session.h -- what all of `assay swarm` has: its options, the server, the run. */
#ifndef WORKERS_SWARM_SESSION_H
#define WORKERS_SWARM_SESSION_H

#include "cli/command.h"
#include "swarm/swarm_run.h"

struct swarm_settings {
	const char *redis, *redis_file, *run, *hosts, *known, *out;
	uint64_t jobs, shards, parts;
	double dead, offline, patience;
	bool diverse, keep, json, any, await;
};
extern struct swarm_settings swarm_settings;

struct swarm {
	struct redis_url url;
	struct buf url_text;
	char name[RUN_NAME_MAX + 1];
	struct swarm_run run;
};

/* By the options. An exit code; it is to be closed in any case. `is_new`: the run need not be
 * there.
 */
int swarm_open(struct swarm *s, bool is_new, struct err *err);
void swarm_close(struct swarm *s);

/* As its description says. */
const json_t *swarm_args(const struct swarm *s);
const char *swarm_target(const struct swarm *s);
const struct command *swarm_run_command(const struct swarm *s);
uint64_t swarm_seed(const struct swarm *s);

#endif
