/* campaign_turn.h -- one turn of an arm: a command of ours in a process, for a slice of time.
 *
 * The process ends with us, however we end. It has its own process group, so that a signal of the
 * terminal reaches it once, from us. Its report is the run.json of its directory, what it says on
 * standard error is DIR/errors. */
#ifndef CAMPAIGN_CAMPAIGN_TURN_H
#define CAMPAIGN_CAMPAIGN_TURN_H

#include <jansson.h>
#include <limits.h>
#include <sys/types.h>

#include "campaign/arms.h"

struct campaign_turn {
	size_t arm;
	int64_t id;            /* in the database */
	char folder[PATH_MAX]; /* of its run, below that of the campaign */
	char path[PATH_MAX];   /* the same with it */
	bool resumed;
	bool on_swarm; /* workers elsewhere do it */
	uint64_t seed;
	double slice_seconds;
	pid_t pid;
	int pid_fd;             /* readable when it has ended */
	double started_seconds; /* of the monotonic clock */
	bool stopped;           /* asked to end for the campaign's sake */
	bool asked, killed;     /* to end; and made to, */
	double kill_seconds;    /* which happens then */
};

enum turn_end {
	TURN_OK,
	TURN_FAILED, /* it may do better another time */
	TURN_CANNOT, /* it will not: a mistake in what it was asked for */
};

struct turn_result {
	enum turn_end end;
	int exit_code, signal; /* -1, 0: none */
	char reason[1024];     /* why it failed, or what it has left out */
	double seconds, cpu_seconds;
	json_t *run; /* run.json, or NULL */
};

/* Starts it. The program is the open file, so that it stays the same while the campaign runs. */
int campaign_turn_start(struct campaign_turn *t, const struct campaign_arm *m, int program_fd,
			const char *config, struct err *err);
/* Whether it has ended. One that takes too long, or all where `stop`, are asked to end, and then
 * made to. */
bool campaign_turn_ended(struct campaign_turn *t, bool stop, const struct instrument *instrument,
			 struct turn_result *ret);
/* The report of a turn that has ended; NULL where there is none. */
json_t *campaign_turn_report(const char *path);

#endif
