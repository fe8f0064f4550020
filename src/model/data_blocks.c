/* data_blocks.c -- whole blocks of generated data, hashed once. */
#include "model/io.h"

/* A few megabytes. */
enum { CACHE_BLOCKS = 1 << 16 };

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

	if (c->block && c->seed == seed && c->from == from)
		return c->block;
	blob_drop(c->block);
	*c = (struct cached_block){ seed, from,
				    tree_block((struct blob_part){ data_fill, seed, from }) };
	return c->block;
}
