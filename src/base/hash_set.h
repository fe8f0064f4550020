/* hash_set.h -- a set of hashes that takes little memory: 8 bytes each, two thirds to 9/10 full.
 *
 * Of a hash 64 bits count. Two of n hashes are taken for one with a chance of n^2 in 2^65: of a
 * hundred million, one in 3,700. The set is in parts that grow one at a time, so that growing takes
 * no second copy of all. */
#ifndef BASE_HASH_SET_H
#define BASE_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

enum { HASH_SET_PARTS = 64 };

struct hash_set {
	struct hash_set_part {
		uint64_t *keys; /* in about the order of their size; 0: none */
		uint32_t count, cap;
	} parts[HASH_SET_PARTS];
	uint64_t count;
};

/* It will be added soon: its place is fetched from memory meanwhile. */
void hash_set_expect(const struct hash_set *s, struct hash hash);
/* True if it was not there. */
bool hash_set_add(struct hash_set *s, struct hash hash);
void hash_set_free(struct hash_set *s);

#endif
