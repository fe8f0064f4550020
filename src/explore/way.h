/* way.h -- the calls that lead to a state: a tree of them, in which ways share their beginnings.
 *
 * A way is its last call and the way before that, 32 bytes; it lives as long as a way or somebody
 * else refers to it. The way to the start is NULL. */
#ifndef EXPLORE_WAY_H
#define EXPLORE_WAY_H

#include <stddef.h>
#include <stdint.h>

struct way {
	struct way *from; /* NULL: the first call */
	uint32_t call;    /* number in the universe */
	uint32_t node;    /* where it led; NODE_NONE where only bits are kept of visited states */
	uint32_t depth;   /* calls of the way */
	uint32_t refs;
	uint32_t number; /* in a checkpoint that is being written; else 0 */
};

/* How many there are, for the memory they take. */
struct ways {
	size_t count;
};

/* One call further than `from`, which stays the caller's; with one reference. */
struct way *way_new(struct ways *ways, struct way *from, uint32_t call, uint32_t node);
struct way *way_share(struct way *w); /* NULL stays NULL */
void way_drop(struct ways *ways, struct way *w);
static inline uint32_t way_depth(const struct way *w)
{
	return w ? w->depth : 0;
}

#endif
