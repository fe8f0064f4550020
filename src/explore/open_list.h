/* open_list.h -- states that a branching search still has calls to try in.
 *
 * Depth first it is a stack, breadth first a queue, best first a heap by score. */
#ifndef EXPLORE_OPEN_LIST_H
#define EXPLORE_OPEN_LIST_H

#include "explore/explore.h"
#include "graph/call_path.h"
#include "graph/graph.h"

struct open_state {
	struct hash hash;   /* of the state */
	struct state state; /* where saved; else it is to be reached by its path first */
	bool saved;
	size_t saved_at; /* place among the saved ones (saved_list.h) */
	uint64_t key;    /* under which the target saves it; rises in the order of discovery */
	uint32_t node;   /* NODE_NONE where only bits are kept of visited states */
	struct call_path *path;       /* the calls that led here */
	uint32_t next, first, stride; /* its order of calls: first + i * stride */
	uint32_t dirty;               /* calls since the last sync that changed something */
	unsigned missed;              /* times that its path led elsewhere */
	/* Another worker has made a part of its calls; what had become free then, plus 1. 0: none.
	 */
	uint64_t received_at;
	double score;
};

struct open_list {
	enum strategy strategy;
	struct open_state **items;
	size_t head, tail, cap;  /* items[head..tail) */
	uint64_t keys;           /* given so far; 0 is never one */
	struct call_paths paths; /* of all open states */
};

bool open_list_is_stack(const struct open_list *l);
/* An open state with a key, that of a state whose node and path (which it shares) are given. It is
 * not in the list yet. */
struct open_state *open_state_new(struct open_list *l, struct hash hash, uint32_t node,
				  struct call_path *path);
/* An order of all calls that differs from state to state and from seed to seed. */
void open_state_order(struct open_state *o, struct rng *rng, uint64_t calls);
bool open_state_has_order(const struct open_state *o, uint64_t calls); /* is what it has one? */
static inline uint32_t open_state_call(const struct open_state *o, uint32_t n, uint64_t calls)
{
	return (uint32_t)((o->first + (uint64_t)n * o->stride) % calls);
}
void open_state_free(struct open_list *l, struct open_state *o); /* which is not saved */
void open_list_add(struct open_list *l, struct open_state *o);
/* The open state to continue with, which stays in the list; NULL if there is none. */
struct open_state *open_list_first(const struct open_list *l);
/* Takes out the one that open_list_first() gives. */
struct open_state *open_list_take(struct open_list *l);
/* Of two or more the one that others may best have instead: of a stack the one with the most behind
 * it, else one whose turn comes late. NULL if there are fewer. */
struct open_state *open_list_last(const struct open_list *l);
void open_list_take_last(struct open_list *l);
/* Takes the open state of this hash out of a queue; NULL if there is none. */
struct open_state *open_list_take_hash(struct open_list *l, struct hash hash);
static inline size_t open_list_count(const struct open_list *l)
{
	return l->tail - l->head;
}
/* How soon the turn of an open state comes, compared to others: the greater, the sooner. */
double open_list_promise(const struct open_list *l, const struct open_state *o);
size_t open_list_bytes(const struct open_list *l);
void open_list_free(struct open_list *l); /* which is empty */

#endif
