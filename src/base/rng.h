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
uint64_t rng_u64(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound); /* unbiased; bound > 0 */
bool rng_chance(struct rng *r, unsigned numerator, unsigned denominator);
/* A seed from the system, for runs that were given none. */
uint64_t rng_fresh_seed(void);

#endif
