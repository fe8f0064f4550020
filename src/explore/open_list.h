/* open_list.h -- states that a branching search still has calls to try in.
 *
 * Depth first it is a stack, breadth first a queue, best first a heap by score. */
#ifndef EXPLORE_OPEN_LIST_H
#define EXPLORE_OPEN_LIST_H

#include "explore/explore.h"
#include "explore/graph.h"
#include "explore/way.h"

struct opening {
	struct hash hash;   /* of the state */
	struct state state; /* where saved; else it is to be reached by its way first */
	bool saved;
	size_t saved_at; /* place among the saved ones (saved_list.h) */
	uint64_t key;    /* under which the target saves it; rises in the order of discovery */
	uint32_t node;   /* NODE_NONE where only bits are kept of visited states */
	struct way *way; /* the calls that led here */
	uint32_t next, first, stride; /* calls in an order of its own: first + i * stride */
	uint32_t dirty;               /* calls since the last sync that changed something */
	unsigned missed;              /* times that its way led elsewhere */
	double score;
};

struct open_list {
	enum strategy strategy;
	struct opening **items;
	size_t head, tail, cap; /* items[head..tail) */
	uint64_t keys;          /* given so far; 0 is nobody's */
	struct ways ways;       /* of all openings */
};

bool open_list_is_stack(const struct open_list *l);
/* An opening with a key, that of a state whose node and way (which it shares) are given. It is not
 * in the list yet. */
struct opening *opening_new(struct open_list *l, struct hash hash, uint32_t node, struct way *way);
/* An order of all calls that differs from state to state and from seed to seed. */
void opening_order(struct opening *o, struct rng *rng, uint64_t calls);
bool opening_has_order(const struct opening *o, uint64_t calls); /* is what it has one? */
static inline uint32_t opening_call(const struct opening *o, uint32_t n, uint64_t calls)
{
	return (uint32_t)((o->first + (uint64_t)n * o->stride) % calls);
}
void opening_free(struct open_list *l, struct opening *o); /* which is not saved */
void open_list_add(struct open_list *l, struct opening *o);
/* The opening to go on with, which stays in the list; NULL if there is none. */
struct opening *open_list_first(const struct open_list *l);
/* Takes out the one that open_list_first() gives. */
struct opening *open_list_take(struct open_list *l);
/* How soon the turn of an opening comes, compared to others: the greater, the sooner. */
double open_list_promise(const struct open_list *l, const struct opening *o);
size_t open_list_bytes(const struct open_list *l);
void open_list_free(struct open_list *l); /* which is empty */

#endif
