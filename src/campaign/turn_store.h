/* turn_store.h -- turns in the database: begun, ended, interrupted; and what they change in their
 * arms. */
#ifndef CAMPAIGN_TURN_STORE_H
#define CAMPAIGN_TURN_STORE_H

#include "campaign/campaign_db.h"
#include "campaign/campaign_turn.h"
#include "campaign/findings_store.h"

/* Writes the beginning of a turn and makes its folder: that of the arm, if it resumes;
 * a new one, if that was deleted. */
int turn_store_begin(struct campaign_db *d, struct campaign_turn *t, struct campaign_arm *m,
		     const char *dir, uint64_t seed, int64_t now, const char *config,
		     struct err *err);
/* Takes over its result: findings, figures, the state of its arm. In a transaction of the caller's.
 */
int turn_store_end(struct campaign_db *d, const struct campaign_turn *t,
		   const struct turn_result *r, struct campaign_arms *a, const char *dir,
		   int64_t now, const struct known *known, struct sighting_counts *ret,
		   struct err *err);
/* The same of what turns have left whose end was not seen. */
int turn_store_interrupted(struct campaign_db *d, const char *dir, int64_t now,
			   const struct known *known, struct sighting_counts *ret, struct err *err);
/* Arms that are done begin again if Assay or the kernel is another one since. */
int turn_store_revive(struct campaign_db *d, struct campaign_arms *a, const char *config,
		      struct err *err);
/* Removes the folder of a turn that no finding needs and that is not continued. */
void turn_store_clean(struct campaign_db *d, const struct campaign_turn *t,
		      const struct campaign_arm *m);
/* The same of all turns that were interrupted. */
void turn_store_clean_interrupted(struct campaign_db *d, const char *dir);

#endif
