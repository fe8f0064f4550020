/* oracle.h -- when a search asks what no call shows: the checker of the file system, and whether
 * space is lost.
 *
 * fsck() and seek_space() are operations, but a search does not draw them like others: in every
 * state they would take more time than all else. It asks in chosen states instead, within a share
 * of its time. The checker runs beside the search, on a copy of the disk; what it complains of is
 * brought back to the history that led there, and replayed with fsck() as the last call. */
#ifndef EXPLORE_ORACLE_H
#define EXPLORE_ORACLE_H

#include "explore/call_history.h"
#include "explore/path_visits.h"
#include "explore/utility.h"
#include "target/checker.h"

struct err;
struct explore_figures;
struct explorer;

/* One check on its way, with the calls that led to what it checks. */
struct oracle_check {
	struct checker checker; /* pid 0: none */
	struct call_history history;
	uint32_t node;
};

enum { ORACLE_CHECKS_MAX = 2 };

struct oracle {
	struct oracle_check checks[ORACLE_CHECKS_MAX];
	struct utility shapes; /* of trees that were checked */
	struct path_visits paths;
	unsigned caps; /* what is asked: enum target_cap */
	double started_seconds;
	double space_seconds; /* when space is asked for next */
	unsigned failures;    /* of ours; after some it is not asked any more */
	uint64_t fsck_runs, fsck_unknown, fsck_us, space_runs, space_us; /* explore_figures */
};

/* For this search, and all others of its target that share the oracle and take turns. */
void oracle_begin(struct oracle *o, const struct explorer *x);
/* Time in which none of these searches worked does not count for the share of the checks. */
void oracle_skip(struct oracle *o, double seconds);
/* To be called where the targets are in x->state, at the end of x->history. Returns 1 if the search
 * is back at the start, on a fresh file system, because something was found; 0; or a negative
 * errno. */
int oracle_look(struct explorer *x, struct err *err);
/* Waits for what was begun; like oracle_look(). */
int oracle_wait(struct explorer *x, struct err *err);
/* At the end of a search: asks once more where it has not asked yet, and waits. */
int oracle_end(struct explorer *x, struct err *err);
/* Adds to the figures. */
void oracle_free(struct oracle *o, struct explore_figures *figures);

#endif
