/* frontier.h -- inputs that wait to be run, the most promising first.
 *
 * That is one for a decision at a place of the checker where few were turned before: a loop that
 * compares again and again does not keep the rest waiting. */
#ifndef SYMBOLIC_FRONTIER_H
#define SYMBOLIC_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/map.h"

struct frontier_input {
	uint8_t *values;
	struct hash edge; /* that it should take; {0, 0}: any */
	unsigned level;   /* how thoroughly it is looked at */
	bool again;       /* it was before */
	uint64_t rank, number;
};

struct frontier {
	struct frontier_input *heap;
	size_t count, cap;
	size_t len;             /* of the values */
	uint64_t added;         /* so far */
	struct hash_map known;  /* values that were added */
	struct hash_map places; /* how often an input was added for a decision there */
};

void frontier_init(struct frontier *f, size_t len);
void frontier_free(struct frontier *f);
/* False: the same values were added before. place 0: before all others. */
bool frontier_add(struct frontier *f, const uint8_t *values, struct hash edge, uint64_t place);
/* The same input once more, to be looked at thoroughly, after those of lower rank. */
void frontier_again(struct frontier *f, const struct frontier_input *input, unsigned level,
		    uint64_t rank);
/* How many inputs were added for a decision at this place. */
uint64_t frontier_turned(const struct frontier *f, uint64_t place);
/* The next one, whose values are the caller's to free; false: there is none. */
bool frontier_take(struct frontier *f, struct frontier_input *ret);

#endif
