/* pool.h -- weighted values from a profile's words. */
#ifndef UNIVERSE_POOL_H
#define UNIVERSE_POOL_H

#include "op/kind.h"
#include "universe/universe.h"

enum { POOL_MAX = 1 << 16 };

enum distribution {
	UNIFORM,
	RANK_SIZE, /* Zipf's: the i-th value with weight 1/i */
	INVERSE_RANK_SIZE,
	DECAYING, /* each value nine tenths as likely as the one before */
	INVERSE_DECAYING,
	DISTRIBUTIONS,
};
/* -1 for none of that name. */
int distribution_find(const char *name);

/* What the words of a pool can mean besides themselves. */
struct pool_words {
	const struct pool *paths; /* "pool" */
	uint64_t count_max;       /* boundary values of lengths of data above it are left out */
};

/* The values that text names, one word each; err names the word. */
int pool_read(struct pool *pool, enum kind kind, const char *text, const struct pool_words *words,
	      struct arena *arena, struct err *err);
void pool_distribute(struct pool *pool, enum distribution distribution);

/* Words, quoted strings taken whole, from *next on; the next one to *ret, or false. */
bool word_next(const char **next, struct arena *arena, char **ret);

#endif
