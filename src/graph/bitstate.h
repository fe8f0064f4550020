/* bitstate.h -- a set of states of which only bits are kept: three per state.
 *
 * A state can be taken for one that was seen (and is then not explored), never the other way
 * round; at a tenth of the bits in use that happens to one in a thousand. */
#ifndef GRAPH_BITSTATE_H
#define GRAPH_BITSTATE_H

#include "base/hash.h"

struct bitstate {
	uint64_t *words;
	uint64_t mask; /* number of bits - 1; 0 before bitstate_init() */
	uint64_t used; /* words that are not 0 */
};

/* With the largest power of two of bytes that is at most this. */
void bitstate_init(struct bitstate *b, uint64_t bytes_max);
/* True if it was not there. */
bool bitstate_add(struct bitstate *b, struct hash h);
void bitstate_free(struct bitstate *b);

#endif
