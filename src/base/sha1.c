/* sha1.c -- SHA-1 (FIPS 180-4). */
#include "base/sha1.h"

#include <stdio.h>
#include <string.h>

static uint32_t sha1_rotate(uint32_t x, unsigned bits)
{
	return x << bits | x >> (32 - bits);
}

/* The function and constant of each quarter of the 80 rounds. */
static uint32_t sha1_mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return ((b & c) | (~b & d)) + 0x5a827999;
	case 1:
		return (b ^ c ^ d) + 0x6ed9eba1;
	case 2:
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	default:
		return (b ^ c ^ d) + 0xca62c1d6;
	}
}

static void sha1_block(uint32_t state[5], const unsigned char block[64])
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = sha1_rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t next = sha1_rotate(a, 5) + sha1_mix(i, b, c, d) + e + w[i];

		e = d;
		d = c;
		c = sha1_rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sha1_add(struct sha1 *s, const void *data, size_t len)
{
	const unsigned char *next = data;

	while (len) {
		size_t at = s->len % 64, part = len < 64 - at ? len : 64 - at;

		memcpy(s->block + at, next, part);
		s->len += part;
		next += part;
		len -= part;
		if (s->len % 64 == 0)
			sha1_block(s->state, s->block);
	}
}

void sha1_print(struct sha1 *s, char text[41])
{
	static const unsigned char padding[64] = { 0x80 };
	uint64_t bits = s->len * 8;
	unsigned char length[8];

	for (unsigned i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha1_add(s, padding, 64 - (s->len + 8) % 64);
	sha1_add(s, length, sizeof(length));
	for (unsigned i = 0; i < 5; i++)
		snprintf(text + 8 * i, 9, "%08x", s->state[i]);
}
