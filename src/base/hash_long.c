/* hash_long.c -- XXH3 of long keys by the library, which has it for every processor. */
#include "base/hash_long.h"

#ifdef BY_PROCESSOR
#include <xxh_x86dispatch.h>

void hash_long(const void *data, size_t len, uint64_t seed, uint64_t *ret_lo, uint64_t *ret_hi)
{
	XXH128_hash_t h = XXH3_128bits_withSeed(data, len, seed);

	*ret_lo = h.low64;
	*ret_hi = h.high64;
}
#endif
