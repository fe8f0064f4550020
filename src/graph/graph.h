/* graph.h -- the states seen so far and the calls that lead from one to another.
 *
 * A state is known by the 128-bit hash of everything the model knows of it; the state itself is
 * not kept. Nodes are numbered in order of discovery. A node costs 32 bytes and its place in
 * the index 5 to 9 more; where ways are sought, 12 more.
 *
 * An edge is a call tried in a state. Most states have few, and most of these lead back to the
 * state or are not made. An edge takes 1 to 5 bytes, and as many again where it leads to another
 * state. The first 12 bytes are in the node, the others in a list; where there are many edges, they
 * are a table of 8 bytes each that is at most 7/8 full. */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"

#define NODE_NONE UINT32_MAX
/* A call that is not made in this state, because it would leave the universe's bounds. */
#define NODE_BEYOND (UINT32_MAX - 1)
/* A call that another worker has made in this state. */
#define NODE_ELSEWHERE (UINT32_MAX - 2)

struct edge {
	uint32_t call; /* number in the universe */
	uint32_t to;
};

/* Where a node has its edges. */
enum node_form { NODE_OWN, NODE_LIST, NODE_TABLE };
enum { NODE_OWN_BYTES = 12 };

struct node {
	struct hash hash;
	uint32_t depth : 22;  /* calls from the start, by the way it was found */
	uint32_t reached : 1; /* the target was there; else it is only predicted */
	uint32_t whose : 2;   /* enum node_whose */
	uint32_t given : 1;   /* by another worker: how to come here was said */
	uint32_t gone : 1;    /* it was ours, and given to another worker */
	uint32_t form : 2;    /* enum node_form */
	uint32_t few : 3;     /* edges in `own` */
	/* NODE_OWN: the edges; else how many, in 4 bytes, and a pointer to them (graph_edges.c). */
	uint8_t own[NODE_OWN_BYTES];
};

/* Calls that lead somewhere or beyond. */
static inline uint32_t node_tried(const struct node *node)
{
	uint32_t tried;

	if (node->form == NODE_OWN)
		return node->few;
	memcpy(&tried, node->own, sizeof(tried));
	return tried;
}

/* How a search for a way came to a node. */
struct node_way {
	uint32_t mark; /* of the search that came here last */
	uint32_t via_node, via_call;
};

/* Of several workers one tries calls in a state. Where there is but one, none is asked. */
enum node_whose { NODE_UNASKED, NODE_MINE, NODE_FOREIGN };

/* Are its untried calls among those that are left? */
static inline bool node_counts(const struct node *node)
{
	return node->reached && node->whose != NODE_FOREIGN;
}

struct graph {
	struct node **chunks;
	struct node_way **ways; /* by chunk; NULL where no search came yet */
	uint32_t count;
	uint32_t *index; /* node number + 1, 0: empty */
	size_t index_cap;
	uint32_t mark;
	uint64_t calls; /* of the universe: edges a node can have */
	uint64_t left;  /* calls untried, over all nodes that were reached and are not foreign */
	uint64_t ahead; /* nodes that are ours and were not reached, nor given */
	size_t edge_bytes, way_bytes;
};

void graph_init(struct graph *g, uint64_t calls);
void graph_free(struct graph *g);
void node_free_edges(struct node *node);

enum { GRAPH_CHUNK = 1 << 12 };
static inline struct node *graph_node(const struct graph *g, uint32_t n)
{
	return &g->chunks[n / GRAPH_CHUNK][n % GRAPH_CHUNK];
}

/* The node of a state, made where absent; not to be asked for where the graph is full. */
uint32_t graph_put(struct graph *g, struct hash hash, bool *ret_new);
bool graph_has(const struct graph *g, struct hash hash);
/* The node was found by a call from another one. */
void graph_found_from(struct graph *g, uint32_t n, uint32_t from);

/* True if there are hardly numbers left for further nodes. */
bool graph_is_full(const struct graph *g);
/* The target was there. True if it was for the first time. */
bool graph_reach(struct graph *g, uint32_t n);
/* From now on it is ours, another worker's, or not known whose. */
void graph_set_whose(struct graph *g, uint32_t n, enum node_whose whose);
/* It is ours, given by another worker. */
void graph_set_given(struct graph *g, uint32_t n);
/* Calls that were not tried yet in the nodes that were reached and are not foreign. */
static inline uint64_t graph_left(const struct graph *g)
{
	return g->left;
}

/* Where the call leads from this node: NODE_NONE if it was not tried. */
uint32_t graph_edge(const struct graph *g, uint32_t from, uint32_t call);
void graph_set_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to);
/* The same of a call that was not tried, which is not looked for. */
void graph_add_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to);
void graph_drop_edge(struct graph *g, uint32_t from, uint32_t call);
/* The next edge of a node: *at is 0 at first, and the edges stay as they are meanwhile. False:
 * there is no other. */
bool graph_next_edge(const struct graph *g, uint32_t n, uint32_t *at, struct edge *ret);
static inline uint64_t graph_untried(const struct graph *g, uint32_t n)
{
	return g->calls - node_tried(graph_node(g, n));
}

/* The shortest path of known edges from one node to another, or (to == NODE_NONE) to the nearest
 * that has calls untried and is not foreign. Returns how many calls it has, the first max of which
 * ret_calls gets, or -1 where there is no path. */
int64_t graph_path(struct graph *g, uint32_t from, uint32_t to, uint32_t *ret_calls, size_t max);

size_t graph_bytes(const struct graph *g);

#endif
