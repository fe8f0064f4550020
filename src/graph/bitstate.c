/* bitstate.c -- double hashing: bit i of a state is at lo + i * hi. */
#include "graph/bitstate.h"

#include <stdlib.h>

#include "base/must.h"

enum { BITS_PER_STATE = 3 };

void bitstate_init(struct bitstate *b, uint64_t bytes_max)
{
	uint64_t bytes = 4096;

	while (bytes <= bytes_max / 2)
		bytes *= 2;
	*b = (struct bitstate){ .words = must_alloc(bytes), .mask = bytes * 8 - 1 };
}

bool bitstate_add(struct bitstate *b, struct hash h)
{
	bool is_new = false;
	uint64_t bit, *word;

	for (unsigned i = 0; i < BITS_PER_STATE; i++) {
		bit = (h.lo + i * (h.hi | 1)) & b->mask;
		word = &b->words[bit / 64];
		is_new |= !(*word >> bit % 64 & 1);
		b->used += !*word;
		*word |= (uint64_t)1 << bit % 64;
	}
	return is_new;
}

void bitstate_free(struct bitstate *b)
{
	free(b->words);
	*b = (struct bitstate){ 0 };
}
