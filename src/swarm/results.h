/* results.h -- what workers have found, on the server.
 *
 *	findings, unconfirmed    signature -> {row: the row of run.json, worker, name}
 *	finding:NAME             file -> its bytes, of the folder of a finding
 *	figures                  worker -> what it has done so far, as it is: never added to
 *	coverage                 worker -> its coverage.json
 *
 * The first worker that publishes a signature keeps it, unless another needs fewer calls. Files are
 * bounded; those left out are named in the row. */
#ifndef SWARM_RESULTS_H
#define SWARM_RESULTS_H

#include "swarm/swarm_run.h"

/* What one worker has published. */
struct results_sender {
	uint64_t worker;
	struct str_map sent; /* signature -> hash of the row */
};

void results_sender_free(struct results_sender *s);
/* Publishes what is new in the run.json in this directory. A directory without one is fine. */
int results_send_findings(struct swarm_run *r, struct results_sender *s, const char *dir,
			  struct err *err);
int results_send_figures(struct swarm_run *r, uint64_t worker, const json_t *figures,
			 struct err *err);
/* Figures and coverage.json of a worker that has ended. */
int results_send_end(struct swarm_run *r, uint64_t worker, const char *dir, struct err *err);

/* Writes the folders of all findings below the directory. *ret: {findings: [rows], unconfirmed:
 * [rows]}, their folders relative to it. */
int results_fetch_findings(struct swarm_run *r, const char *dir, json_t **ret, struct err *err);
/* *ret: {NUMBER: {...}} of all workers that have published some. */
int results_fetch(struct swarm_run *r, const char *what, json_t **ret, struct err *err);

/* How many states were counted; the sum of their hashes, if there are at most `max` (*ret_summed).
 */
int results_states(struct swarm_run *r, uint64_t max, uint64_t *ret_count, struct hash *ret_sum,
		   bool *ret_summed, struct err *err);
/* Numbers of workers: living, dead (killed, or without a sign of life), left, all; findings. */
struct swarm_counts {
	uint64_t living, dead, left, workers, findings, unconfirmed, waiting;
};
/* The answer to a command on one key of the run. */
int results_ask_number(struct swarm_run *r, const char *command, const char *what, uint64_t *ret,
		       struct err *err);
int results_counts(struct swarm_run *r, struct swarm_counts *ret, struct err *err);
/* Worker numbers whose claims are void, as keys of an object. */
int results_dead(struct swarm_run *r, json_t **ret, struct err *err);
/* Has nothing been left in every search? */
int results_is_done(struct swarm_run *r, bool *ret, struct err *err);

#endif
