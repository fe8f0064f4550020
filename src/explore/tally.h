/* tally.h -- how often each call was made and each errno seen; weights that follow from it.
 *
 * Counting by call number costs one increment in the hot path; coverage by partition is worked
 * out from it when asked for. */
#ifndef EXPLORE_TALLY_H
#define EXPLORE_TALLY_H

#include "cover/cover.h"
#include "op/universe.h"

struct tally {
	struct universe *universe;
	uint32_t *calls;                    /* by number in the universe */
	uint64_t (*outcomes)[COVER_ERRNOS]; /* by operation of the universe */
	uint64_t *(*weights)[OP_ARGS_MAX];  /* as the profile gave them; by operation, argument */
	const struct cover *before;         /* what others tried, or NULL */
};

/* The universe's pools become its operations' own, so that their weights can differ. Where before
 * is not NULL they begin with those that follow from its counts, operations' weights as well. */
void tally_init(struct tally *t, struct universe *u, const struct cover *before);
void tally_free(struct tally *t);
static inline void tally_count(struct tally *t, uint32_t call, size_t op, int error)
{
	t->calls[call]++;
	t->outcomes[op][error < COVER_ERRNOS ? error : 0]++;
}
/* How often an outcome was seen, by us and before. */
uint64_t tally_seen(const struct tally *t, size_t op, int error);
void tally_cover(const struct tally *t, struct cover *ret);
/* Moves the universe's weights toward values that were tried least. */
void tally_adapt(struct tally *t);

#endif
