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

/* Whole words, many at a time where the processor can. */
#ifdef BY_PROCESSOR
__attribute__((target_clones("default", "avx2", "arch=x86-64-v4"), optimize("O3")))
#endif
static void
data_fill_words(uint64_t key, uint64_t first, char *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t w = data_word(key, first + i);

		memcpy(to + i * WORD, &w, WORD);
	}
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
	data_fill_words(key, i, next, len / WORD);
	if (len % WORD) {
		w = data_word(key, i + len / WORD);
		memcpy(next + len / WORD * WORD, &w, len % WORD);
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
