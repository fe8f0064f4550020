/* tally.h -- how often each call was made and each errno seen; weights that follow from it.
 *
 * Counting by call number costs one increment in the hot path; how often values and partitions
 * of arguments were used is worked out from it when weights move, or when asked for. */
#ifndef EXPLORE_TALLY_H
#define EXPLORE_TALLY_H

#include "cover/cover.h"
#include "universe/universe.h"

/* Of the pool of one argument of one operation. */
struct tally_pool {
	uint64_t *weights;  /* of the values, as the profile gave them */
	uint64_t *made;     /* calls with each value, when weights moved last */
	uint64_t *familiar; /* for each value: calls with its least known partition, then */
	uint64_t *coverage; /* for each value: new points of code that calls with it ran lately */
};

struct tally {
	struct universe *universe;
	uint32_t *calls;                    /* by number in the universe */
	uint64_t (*outcomes)[COVER_ERRNOS]; /* by operation of the universe */
	struct tally_pool (*pools)[OP_ARGS_MAX];
	unsigned *weights;  /* of operations, as the profile and what was before gave them */
	uint64_t *coverage; /* for each operation: new points of code that its calls ran lately */
	const struct cover *before; /* what others tried, or NULL */
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
static inline void tally_count(struct tally *t, uint32_t call, size_t op, int error)
{
	t->calls[call]++;
	t->outcomes[op][error < COVER_ERRNOS ? error : 0]++;
}
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

#endif
