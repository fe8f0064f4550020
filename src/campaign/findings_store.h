/* findings_store.h -- findings of a campaign in the database: one row for each cause on each
 * target.
 *
 * A finding is known by its target, without the version of a kernel in a process, and by its group
 * (judge/group.h): turns, instruments and kernels that show it again add sightings to the same row.
 */
#ifndef CAMPAIGN_FINDINGS_STORE_H
#define CAMPAIGN_FINDINGS_STORE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "campaign/campaign_db.h"

struct known;

/* Where and when a turn has met what it reports. */
struct sighting_place {
	const char *target; /* of the arm: of failures that name none */
	int64_t arm, turn;
	const char *kernel; /* release, or "" */
	int64_t at;
	const char *dir;    /* of the campaign, */
	const char *folder; /* and of the turn's run below it */
	bool resumed;       /* the run has findings of earlier turns, too */
};

struct sighting_counts {
	unsigned findings;    /* confirmed ones that are new */
	unsigned unconfirmed; /* new as well */
	bool kept;            /* a row of the database names a folder of this run */
	struct buf news;      /* a line for each that is new */
};

/* "kernel:ext4@6.1!BUG" is "kernel:ext4!BUG". */
void findings_store_target(const char *target, struct buf *ret);

/* Takes over what a run.json says. In a transaction of the caller's. */
int findings_store_take(struct campaign_db *d, const json_t *run,
			const struct sighting_place *place, const struct known *known,
			struct sighting_counts *ret, struct err *err);
/* Marks all findings as known or not, as the file says now. */
int findings_store_mark_known(struct campaign_db *d, const struct known *known, struct err *err);
/* Adds the confirmed findings of a target as lines of a file of known failures, if their folders
 * are still there: a turn need not work on them again. */
int findings_store_print_known(struct campaign_db *d, const char *target, const char *dir,
			       struct buf *out, struct err *err);

#endif
