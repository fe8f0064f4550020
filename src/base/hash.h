/* hash.h -- 64- and 128-bit hashes (XXH3) and the sums that combine them.
 *
 * A set is hashed as the sum of its members' hashes modulo 2^128: members come and go in
 * O(1) and in any order. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash {
	uint64_t lo, hi;
};

uint64_t hash64(const void *data, size_t len, uint64_t seed);
struct hash hash128(const void *data, size_t len, uint64_t seed);

/* hash128 of bytes that come piece by piece. */
struct hash_stream;
struct hash_stream *hash_stream_new(void);
void hash_stream_add(struct hash_stream *s, const void *data, size_t len);
struct hash hash_stream_end(struct hash_stream *s); /* frees it */

static inline struct hash hash_add(struct hash a, struct hash b)
{
	struct hash sum = { a.lo + b.lo, a.hi + b.hi };

	sum.hi += sum.lo < a.lo;
	return sum;
}

static inline struct hash hash_sub(struct hash a, struct hash b)
{
	struct hash difference = { a.lo - b.lo, a.hi - b.hi };

	difference.hi -= a.lo < b.lo;
	return difference;
}

static inline bool hash_equal(struct hash a, struct hash b)
{
	return a.lo == b.lo && a.hi == b.hi;
}

/* 32 hexadecimal digits and a NUL. */
void hash_print(struct hash h, char text[33]);

#endif
