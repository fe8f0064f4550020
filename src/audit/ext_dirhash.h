/* ext_dirhash.h -- the hash of a name, by which ext3 and ext4 order a directory with an index. */
#ifndef AUDIT_EXT_DIRHASH_H
#define AUDIT_EXT_DIRHASH_H

#include <stddef.h>
#include <stdint.h>

enum ext_dirhash_version {
	EXT_DIRHASH_LEGACY,
	EXT_DIRHASH_HALF_MD4,
	EXT_DIRHASH_TEA,
	EXT_DIRHASH_SIGNED_VERSIONS,
	/* The same, with the bytes of names as unsigned numbers, follow in this order. */
	EXT_DIRHASH_VERSIONS = 2 * EXT_DIRHASH_SIGNED_VERSIONS,
};

enum { EXT_DIRHASH_SEED_LEN = 16 };

/* Its lowest bit is 0. Instead of a seed of zeros, the usual one is taken. */
uint32_t ext_dirhash(unsigned version, const uint8_t seed[EXT_DIRHASH_SEED_LEN],
		     const uint8_t *name, size_t len);

#endif
