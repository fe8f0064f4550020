/* arms_store.h -- arms in the database: what they had so far, and after a turn. */
#ifndef CAMPAIGN_ARMS_STORE_H
#define CAMPAIGN_ARMS_STORE_H

#include "campaign/arms.h"
#include "campaign/campaign_db.h"

/* Gives every arm its row, with what it had in earlier runs of the campaign. What was put aside is
 * tried again: the machine may have changed. Arms that the file has no longer stay in the database.
 * In a transaction of the caller's. */
int arms_store_load(struct campaign_db *d, struct campaign_arms *a, struct err *err);
/* Writes the row of an arm. */
int arms_store_save(struct campaign_db *d, const struct campaign_arms *a, size_t arm,
		    struct err *err);
/* What all arms have lost by a turn (bandit.h). */
int arms_store_fade(struct campaign_db *d, const struct campaign_arms *a, struct err *err);

#endif
