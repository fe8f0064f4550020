/* open_list.h -- states that a branching search still has calls to try in.
 *
 * Depth first it is a stack, breadth first a queue, best first a heap by score. */
#ifndef EXPLORE_OPEN_LIST_H
#define EXPLORE_OPEN_LIST_H

#include "explore/explore.h"
#include "explore/graph.h"

struct opening {
	struct state state;
	struct hash hash; /* of the state */
	bool saved;       /* else it comes from a checkpoint: its state is not known yet */
	uint64_t key;     /* under which the target saved it */
	uint32_t node;    /* NODE_NONE where only bits are kept of visited states */
	uint32_t call;    /* that led here */
	uint32_t depth;
	uint32_t next, first, stride; /* calls in an order of its own: first + i * stride */
	uint32_t dirty;               /* calls since the last sync that changed something */
	double score;
};

struct open_list {
	enum strategy strategy;
	struct opening **items;
	size_t head, tail, cap; /* items[head..tail) */
};

bool open_list_is_stack(const struct open_list *l);
void open_list_add(struct open_list *l, struct opening *o);
/* The opening to go on with, which stays in the list; NULL if there is none. */
struct opening *open_list_first(const struct open_list *l);
/* Takes out the one that open_list_first() gives. */
struct opening *open_list_take(struct open_list *l);
void open_list_free(struct open_list *l); /* which is empty */

#endif
