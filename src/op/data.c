/* data.c -- the bytes of data arguments.
 *
 * The sequence of a seed is made of 64-bit words, little-endian; word i is a mix of seed and i.
 * So any part of it costs the same, and a byte at the wrong place or of another file shows. */
#include <endian.h>
#include <string.h>

#include "op/op.h"

enum { WORD = 8 };

static uint64_t data_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t data_word(uint64_t key, uint64_t i)
{
	return htole64(data_mix(key + i * 0x9e3779b97f4a7c15));
}

void data_fill(uint64_t seed, uint64_t from, void *to, size_t len)
{
	uint64_t key = data_mix(seed + 1), i = from / WORD, w;
	size_t skip = from % WORD, part;
	char *next = to;

	if (skip) {
		part = len < WORD - skip ? len : WORD - skip;
		w = data_word(key, i++);
		memcpy(next, (char *)&w + skip, part);
		next += part;
		len -= part;
	}
	for (; len >= WORD; next += WORD, len -= WORD) {
		w = data_word(key, i++);
		memcpy(next, &w, WORD);
	}
	if (len) {
		w = data_word(key, i);
		memcpy(next, &w, len);
	}
}

void data_bytes(const struct arg *data, uint64_t from, void *to, size_t count)
{
	size_t own = from < data->len ? data->len - from : 0;

	if (own > count)
		own = count;
	if (own && data->generated)
		data_fill(data->seed, from, to, own);
	else if (own)
		memcpy(to, data->text + from, own);
	if (count > own)
		memset((char *)to + own, 0, count - own);
}
