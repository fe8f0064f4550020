/* hash.c -- XXH3, compiled in so that short keys cost no call into a library. */
#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash_long.h"
#include "base/must.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t hash64(const void *data, size_t len, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, len, seed);
}

struct hash hash128(const void *data, size_t len, uint64_t seed)
{
	XXH128_hash_t h;

#ifdef BY_PROCESSOR
	struct hash ret;

	if (len >= HASH_LONG) {
		hash_long(data, len, seed, &ret.lo, &ret.hi);
		return ret;
	}
#endif
	h = XXH3_128bits_withSeed(data, len, seed);
	return (struct hash){ .lo = h.low64, .hi = h.high64 };
}

struct hash_stream {
	XXH3_state_t *state;
};

struct hash_stream *hash_stream_new(void)
{
	struct hash_stream *s = must_alloc(sizeof(*s));

	s->state = XXH3_createState();
	must(s->state);
	XXH3_128bits_reset(s->state);
	return s;
}

void hash_stream_add(struct hash_stream *s, const void *data, size_t len)
{
	XXH3_128bits_update(s->state, data, len);
}

struct hash hash_stream_end(struct hash_stream *s)
{
	XXH128_hash_t h = XXH3_128bits_digest(s->state);

	XXH3_freeState(s->state);
	free(s);
	return (struct hash){ .lo = h.low64, .hi = h.high64 };
}

void hash_print(struct hash h, char text[33])
{
	snprintf(text, 33, "%016" PRIx64 "%016" PRIx64, h.hi, h.lo);
}
