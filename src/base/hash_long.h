/* hash_long.h -- hashes of whole blocks, by the widest instructions of this processor. */
#ifndef BASE_HASH_LONG_H
#define BASE_HASH_LONG_H

#include <stddef.h>
#include <stdint.h>

/* From here on a call into a library is worth it. */
enum { HASH_LONG = 512 };

/* The same as hash128(); only where the build leaves it to the processor (BY_PROCESSOR). */
void hash_long(const void *data, size_t len, uint64_t seed, uint64_t *ret_lo, uint64_t *ret_hi);

#endif
