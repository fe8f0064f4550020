/* alias.h -- drawing by weight in constant time, by a table (Walker's aliases, as Vose fills it).
 *
 * A place of the table is drawn evenly; its own chance decides between it and one other. A draw
 * takes one random number and one look, however many weights there are; filling takes as long as
 * there are weights. Chances are exact to one part in 2^32. */
#ifndef UNIVERSE_ALIAS_H
#define UNIVERSE_ALIAS_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

struct alias {
	uint32_t own;   /* of 2^32: how often it is this place itself */
	uint32_t other; /* else this one */
};

/* sums: of the weights up to and with each place, of which there are fewer than 2^32. */
void alias_fill(struct alias *table, const uint64_t *sums, size_t count);

static inline size_t alias_draw(const struct alias *table, size_t count, struct rng *rng)
{
	uint64_t random = rng_u64(rng);
	size_t place = (size_t)((random >> 32) * count >> 32);

	return (uint32_t)random < table[place].own ? place : table[place].other;
}

#endif
