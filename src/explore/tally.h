/* tally.h -- how often each value of each argument was used and each errno seen; weights that
 * follow from it.
 *
 * A call is counted by the places of its values in their pools, in the hot path: an increment for
 * each argument. Values that follow from the state are counted by partition, too, by what they
 * were. How often partitions were used is worked out when weights move, or when asked for; that
 * takes as long as there are values, however many calls they make. */
#ifndef EXPLORE_TALLY_H
#define EXPLORE_TALLY_H

#include "cover/cover.h"
#include "universe/universe.h"

/* Of the pool of one argument of one operation. */
struct tally_pool {
	uint64_t *weights;  /* of the values, as the profile gave them */
	uint64_t *made;     /* calls with each value */
	uint64_t *familiar; /* for each value: calls with its least known partition, then */
	uint64_t *coverage; /* for each value: new points of code that calls with it ran lately */
};

struct tally {
	struct universe *universe;
	uint64_t (*outcomes)[COVER_ERRNOS]; /* by operation of the universe */
	struct tally_pool (*pools)[OP_ARGS_MAX];
	unsigned *weights;  /* of operations, as the profile and what was before gave them */
	uint64_t *coverage; /* for each operation: new points of code that its calls ran lately */
	const struct cover *before; /* what others tried, or NULL */
	struct cover found;         /* values that followed from states */
};

/* Partitions that the universe's values are in, and those among them that were used; different
 * outcomes of operations. */
struct tally_reach {
	uint64_t inputs, inputs_seen, outcomes_seen;
};

/* The universe's pools become its operations' own, so that their weights can differ. Where before
 * is not NULL they begin with those that follow from its counts, operations' weights as well. */
void tally_init(struct tally *t, struct universe *u, const struct cover *before);
void tally_free(struct tally *t);
/* Counts call number n, which was this call, and its outcome: an errno, or 0 for success. */
void tally_count(struct tally *t, uint32_t n, const struct call *c, int error);
/* The call ran so many points of code for the first time: others like it are drawn more often
 * for a while. */
void tally_new_coverage(struct tally *t, uint64_t call, uint32_t points);
void tally_cover(const struct tally *t, struct cover *ret);
/* Moves the universe's weights toward operations with partitions that were not seen yet, and
 * toward values of partitions that were seen least. */
void tally_adapt(struct tally *t);
/* How often the outcome that a call would have (an errno, 0 for success) was seen, by us and
 * before, for its operation's weight: one that is to be rare stays so. */
double tally_familiarity(const struct tally *t, uint64_t call, int error);
struct tally_reach tally_reach(struct tally *t);
/* Counts every value of the universe once. */
void tally_possible(const struct tally *t, struct cover *ret);
/* Different outcomes of operations so far. */
uint64_t tally_outcomes(const struct tally *t);

#endif
