/* ext_dirhash.c -- the hash of a name, by which ext3 and ext4 order a directory with an index.
 *
 * The three functions are those of fs/ext4/hash.c: one made for ext3, 24 of the 48 steps of MD4,
 * and the cipher TEA. All but the first take a name in pieces, which are filled up with its length.
 */
#include "audit/ext_dirhash.h"

#include <string.h>

#include "base/must.h"
#include "ondisk/ondisk.h"

enum { STATE_LEN = 4, MD4_PIECE = 8, TEA_PIECE = 4 }; /* words */

/* The value that means the end of a directory, where the kernel reads one in the order of hashes.
 */
static const uint32_t end_of_directory = 0xfffffffe;

static uint32_t ext_dirhash_byte(uint8_t byte, bool is_signed)
{
	return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
}

static uint32_t ext_dirhash_legacy(const uint8_t *name, size_t len, bool is_signed)
{
	uint32_t last = 0x12a3fe2d, before = 0x37abe8f9;

	for (size_t i = 0; i < len; i++) {
		uint32_t sum = before + (last ^ (ext_dirhash_byte(name[i], is_signed) * 7152373u));

		if (sum & 0x80000000)
			sum -= 0x7fffffff;
		before = last;
		last = sum;
	}
	return last << 1;
}

/* The words of a piece: the bytes of the name, and behind them what is left of its length. */
static void ext_dirhash_words(uint32_t *ret, size_t count, const uint8_t *name, size_t len,
			      bool is_signed)
{
	uint32_t filling = (uint32_t)(uint8_t)len * 0x01010101u;

	for (size_t w = 0; w < count; w++) {
		ret[w] = filling;
		for (size_t i = 4 * w; i < 4 * w + 4 && i < len; i++)
			ret[w] = (ret[w] << 8) + ext_dirhash_byte(name[i], is_signed);
	}
}

static void ext_dirhash_md4(uint32_t state[STATE_LEN], const uint32_t words[MD4_PIECE])
{
	static const struct {
		uint32_t constant;
		uint8_t order[MD4_PIECE], shifts[4];
	} rounds[] = {
		{ 0, { 0, 1, 2, 3, 4, 5, 6, 7 }, { 3, 7, 11, 19 } },
		{ 0x5a827999, { 1, 3, 5, 7, 0, 2, 4, 6 }, { 3, 5, 9, 13 } },
		{ 0x6ed9eba1, { 3, 7, 2, 6, 1, 5, 0, 4 }, { 3, 9, 11, 15 } },
	};
	uint32_t s[STATE_LEN];

	memcpy(s, state, sizeof(s));
	for (size_t r = 0; r < ARRAY_LEN(rounds); r++)
		for (unsigned i = 0; i < MD4_PIECE; i++) {
			uint32_t *a = &s[-i % 4], x = s[(1 - i) % 4], y = s[(2 - i) % 4],
				 z = s[(3 - i) % 4];
			uint32_t mixed = r == 0 ? (x & y) | (~x & z)
				       : r == 1 ? (x & y) | (x & z) | (y & z)
						: x ^ y ^ z;

			*a += mixed + words[rounds[r].order[i]] + rounds[r].constant;
			*a = *a << rounds[r].shifts[i % 4] | *a >> (32 - rounds[r].shifts[i % 4]);
		}
	for (unsigned i = 0; i < STATE_LEN; i++)
		state[i] += s[i];
}

static void ext_dirhash_tea(uint32_t state[STATE_LEN], const uint32_t words[TEA_PIECE])
{
	uint32_t x = state[0], y = state[1], sum = 0;

	for (unsigned i = 0; i < 16; i++) {
		sum += 0x9e3779b9;
		x += ((y << 4) + words[0]) ^ (y + sum) ^ ((y >> 5) + words[1]);
		y += ((x << 4) + words[2]) ^ (x + sum) ^ ((x >> 5) + words[3]);
	}
	state[0] += x;
	state[1] += y;
}

/* The state before a name: the seed, or where there is none, that of MD4. */
static void ext_dirhash_start(uint32_t state[STATE_LEN], const uint8_t *seed)
{
	static const uint32_t usual[STATE_LEN] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	bool is_given = false;

	for (unsigned i = 0; i < STATE_LEN; i++) {
		state[i] = (uint32_t)ondisk_le(seed + 4 * i, 4);
		is_given |= state[i];
	}
	if (!is_given)
		memcpy(state, usual, sizeof(usual));
}

uint32_t ext_dirhash(unsigned version, const uint8_t seed[EXT_DIRHASH_SEED_LEN],
		     const uint8_t *name, size_t len)
{
	bool is_signed = version < EXT_DIRHASH_SIGNED_VERSIONS;
	unsigned function = version % EXT_DIRHASH_SIGNED_VERSIONS;
	size_t piece = function == EXT_DIRHASH_TEA ? TEA_PIECE : MD4_PIECE;
	uint32_t state[STATE_LEN], words[MD4_PIECE], hash;

	ext_dirhash_start(state, seed);
	for (size_t at = 0; at < len && function != EXT_DIRHASH_LEGACY; at += 4 * piece) {
		ext_dirhash_words(words, piece, name + at, len - at, is_signed);
		if (function == EXT_DIRHASH_TEA)
			ext_dirhash_tea(state, words);
		else
			ext_dirhash_md4(state, words);
	}
	if (function == EXT_DIRHASH_LEGACY)
		hash = ext_dirhash_legacy(name, len, is_signed);
	else
		hash = state[function == EXT_DIRHASH_TEA ? 0 : 1];
	hash &= ~1u;
	return hash == end_of_directory ? end_of_directory - 2 : hash;
}
