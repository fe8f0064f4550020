/* rng.c -- xoshiro256++ (Blackman and Vigna), seeded by splitmix64. */
#include "base/rng.h"

#include <sys/random.h>

#include "base/must.h"

static uint64_t rng_splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	for (size_t i = 0; i < ARRAY_LEN(r->s); i++)
		r->s[i] = rng_splitmix(&seed);
}

/* The high half of a product (Lemire); products that would favour some results are redrawn. */
uint64_t rng_below(struct rng *r, uint64_t bound)
{
	unsigned __int128 product;

	must(bound > 0);
	do {
		product = (unsigned __int128)rng_u64(r) * bound;
	} while ((uint64_t)product < bound && (uint64_t)product < -bound % bound);
	return (uint64_t)(product >> 64);
}

bool rng_chance(struct rng *r, unsigned numerator, unsigned denominator)
{
	return rng_below(r, denominator) < numerator;
}

uint64_t rng_fresh_seed(void)
{
	uint64_t seed;

	must(getrandom(&seed, sizeof(seed), 0) == sizeof(seed));
	return seed;
}
