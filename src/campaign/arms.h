/* arms.h -- the arms of a campaign: each an instrument on a target with its options. */
#ifndef CAMPAIGN_ARMS_H
#define CAMPAIGN_ARMS_H

#include "base/buf.h"
#include "campaign/bandit.h"
#include "campaign/campaign_file.h"
#include "campaign/instrument.h"

enum { ARMS_MAX = 10000 };

enum arm_state {
	ARM_ACTIVE,
	ARM_DONE,    /* nothing is left to try, or its time is used up */
	ARM_ASIDE,   /* its turns fail */
	ARM_LACKING, /* this machine lacks something for it */
	ARM_STATES
};
extern const char *const arm_state_names[ARM_STATES];

struct campaign_arm {
	const struct campaign_section *section;
	const struct instrument *instrument;
	char *name;   /* "explore kernel:ext4 --profile crash": the same in every run of the file */
	char *target; /* or checker */
	struct buf options; /* words, each with a NUL behind it */
	enum arm_state state;
	char *reason; /* of that state, or "" */
	bool running;
	/* From here on in the database. */
	int64_t id;
	uint64_t turns, failures, failures_in_row;
	uint64_t part;   /* of those that it is divided into: the next one */
	uint64_t folder; /* number of its directory, of one that resumes */
	double seconds, cpu_seconds;
	uint64_t states, code, findings; /* new ones, in all turns */
	/* Of the directory that it resumes, so far; of one that does not, the most of one turn. */
	uint64_t run_states, run_code;
};

struct campaign_arms {
	struct campaign_arm *list;
	size_t count;
	struct bandit bandit; /* an arm of it for each */
	double *shares;
};

/* All arms of the file, in its order. Patterns choose among the described targets, and of those
 * that the instrument can test; another name is taken as it is. */
int campaign_arms_list(struct campaign_arms *a, const struct campaign_file *f, struct err *err);
void campaign_arms_free(struct campaign_arms *a);
void campaign_arm_set_state(struct campaign_arms *a, size_t arm, enum arm_state state,
			    const char *reason);
/* Whether the bandit may choose it; after a change of what it depends on. */
void campaign_arm_update(struct campaign_arms *a, size_t arm);

#endif
