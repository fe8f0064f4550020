/* data_blocks.c -- whole blocks of generated data, made once. */
#include "model/io.h"

/* 64 MiB at most, and less than the states of a search that has so much data. */
enum { CACHE_BLOCKS = 1 << 14 };

struct cached_block {
	uint64_t seed, from;
	struct blob *block; /* NULL: none yet */
};

struct blob *data_block(uint64_t seed, uint64_t from)
{
	static struct cached_block cache[CACHE_BLOCKS];
	/* Neighbours do not meet; sequences, and ways to be shifted, begin anywhere. */
	uint64_t place = from / TREE_BLOCK + seed * 5227 + from % TREE_BLOCK * 811;
	struct cached_block *c = &cache[place % CACHE_BLOCKS];
	char bytes[TREE_BLOCK];

	if (c->block && c->seed == seed && c->from == from)
		return c->block;
	data_fill(seed, from, bytes, sizeof(bytes));
	blob_drop(c->block);
	*c = (struct cached_block){ seed, from, tree_block(bytes) };
	return c->block;
}
