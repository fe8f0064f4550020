/* rng.h -- random numbers with an explicit seed (xoshiro256++); same seed, same run. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
static inline uint64_t rng_rotate_left(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline uint64_t rng_u64(struct rng *r)
{
	uint64_t *s = r->s, result = rng_rotate_left(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rng_rotate_left(s[3], 45);
	return result;
}
uint64_t rng_below(struct rng *r, uint64_t bound); /* unbiased; bound > 0 */
bool rng_chance(struct rng *r, unsigned numerator, unsigned denominator);
/* A seed from the system, for runs that were given none. */
uint64_t rng_fresh_seed(void);

#endif
