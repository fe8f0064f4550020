/* campaign_session.h -- a campaign that runs: turns of its arms, one after the other or side by
 * side.
 *
 * Everything is in its directory: campaign.db, arms/ with the runs that are continued, turns/ with
 * those that are not, as long as a finding needs them. It can be stopped and continued at any time.
 * After a kill, what the turns of that moment had found by then is taken over by the next start. */
#ifndef CAMPAIGN_CAMPAIGN_SESSION_H
#define CAMPAIGN_CAMPAIGN_SESSION_H

#include "campaign/campaign_db.h"
#include "campaign/campaign_turn.h"
#include "run/known.h"
#include "run/run_dir.h"

struct campaign_session;

/* What it has to say while it runs. */
struct campaign_listener {
	void (*found)(void *to, const char *lines); /* new findings */
	void (*warn)(void *to, const char *line);   /* an arm that cannot run, say */
	void (*progress)(void *to, const struct campaign_session *s);
	void *to;
};

struct campaign_session {
	const struct campaign_file *file;
	struct campaign_listener listener;
	struct run_dir place;
	struct campaign_db db;
	struct campaign_arms arms;
	struct known known; /* by the file of the user */
	uint64_t seed;
	int program_fd;
	bool on_swarm; /* turns that need nothing of an earlier one are done by its workers */
	double before_seconds, started_seconds; /* of earlier starts; and this one's beginning */
	double until_seconds;                   /* of the monotonic clock; INFINITY: no limit */
	int64_t last_time;                      /* that was written */
	bool clock_went_back;
	struct campaign_turn *turns; /* that run now */
	size_t turn_count;
	uint64_t turns_ended, findings; /* in this start */
};

/* dir: NULL for the usual one. On failure nothing is to be closed. */
int campaign_session_open(struct campaign_session *s, const struct campaign_file *f,
			  const char *dir, const struct campaign_listener *listener,
			  struct err *err);
/* Until the time of the campaign is over, so many seconds have passed (0: no limit), nothing is
 * left to do, or it is stopped. */
int campaign_session_run(struct campaign_session *s, double seconds, struct err *err);
void campaign_session_close(struct campaign_session *s);
double campaign_session_seconds(const struct campaign_session *s);

#endif
