/* swarm_crew.h -- processes of one machine that are workers of a swarm, and who looks after them:
 * gives signs of life for them, publishes what they find, replaces those that are killed. */
#ifndef WORKERS_SWARM_CREW_H
#define WORKERS_SWARM_CREW_H

#include "cli/jobs.h"
#include "swarm/results.h"

struct swarm_crew {
	struct swarm_run *run; /* on the server */
	const struct redis_url *url;
	double dead_seconds;     /* a worker without a sign of life for so long is dead */
	double patience_seconds; /* to wait for the server at the end */

	/* By number of a process. */
	struct worker_page *pages; /* shared with them */
	struct results_sender *senders;
	bool *ended;
	unsigned count, max;

	const char *dir;
	double beat_at, publish_at, connected_at, connect_at;
	bool is_over;    /* the run is to end */
	struct err lost; /* what could not be published, and why */
};

int swarm_crew_open(struct swarm_crew *c, unsigned count, struct err *err);
void swarm_crew_close(struct swarm_crew *c);
/* Runs so many processes in DIR/job-0 and so on. Each uses page number so and so. */
int swarm_crew_run(struct swarm_crew *c, const struct run *local, unsigned count,
		   const struct job *job, struct err *err);

#endif
