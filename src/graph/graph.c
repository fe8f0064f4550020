/* graph.c -- nodes in chunks that never move, found by an index of their hashes. */
#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { INDEX_MIN = 1 << 10 };

/* A plan makes nodes before anyone asks again whether there is room. */
enum { NODES_SPARE = 1 << 16 };

enum { NODE_DEPTH_MAX = (1 << 22) - 1 };

void graph_init(struct graph *g, uint64_t calls)
{
	*g = (struct graph){ .calls = calls, .index_cap = INDEX_MIN };
	g->index = must_alloc(INDEX_MIN * sizeof(*g->index));
}

void graph_free(struct graph *g)
{
	for (uint32_t n = 0; n < g->count; n++)
		node_free_edges(graph_node(g, n));
	for (uint32_t i = 0; i * GRAPH_CHUNK < g->count; i++) {
		free(g->chunks[i]);
		free(g->ways[i]);
	}
	free(g->chunks);
	free(g->ways);
	free(g->index);
	*g = (struct graph){ 0 };
}

static uint32_t *graph_find_slot(const struct graph *g, struct hash hash)
{
	size_t i = (size_t)((unsigned __int128)hash.lo * g->index_cap >> 64);

	while (g->index[i] && !hash_equal(graph_node(g, g->index[i] - 1)->hash, hash))
		i = i + 1 < g->index_cap ? i + 1 : 0;
	return &g->index[i];
}

static void graph_grow_index(struct graph *g)
{
	free(g->index);
	g->index_cap += g->index_cap / 2;
	g->index = must_alloc(g->index_cap * sizeof(*g->index));
	for (uint32_t n = 0; n < g->count; n++)
		*graph_find_slot(g, graph_node(g, n)->hash) = n + 1;
}

static uint32_t graph_new_node(struct graph *g, struct hash hash)
{
	uint32_t n = g->count++;

	must(g->count < NODE_ELSEWHERE);
	if (n % GRAPH_CHUNK == 0) {
		g->chunks = must_realloc(g->chunks, (n / GRAPH_CHUNK + 1) * sizeof(*g->chunks));
		g->chunks[n / GRAPH_CHUNK] = must_alloc(GRAPH_CHUNK * sizeof(struct node));
		g->ways = must_realloc(g->ways, (n / GRAPH_CHUNK + 1) * sizeof(*g->ways));
		g->ways[n / GRAPH_CHUNK] = NULL;
	}
	*graph_node(g, n) = (struct node){ .hash = hash };
	return n;
}

bool graph_is_full(const struct graph *g)
{
	return g->count >= NODE_ELSEWHERE - NODES_SPARE;
}

/* Ours by a prediction that did not come true, or not yet. */
static bool node_is_ahead(const struct node *node)
{
	return node->whose == NODE_MINE && !node->reached && !node->given;
}

bool graph_reach(struct graph *g, uint32_t n)
{
	struct node *node = graph_node(g, n);

	if (node->reached)
		return false;
	g->ahead -= node_is_ahead(node);
	node->reached = 1;
	g->left += node_counts(node) * (g->calls - node_tried(node));
	return true;
}

void graph_set_whose(struct graph *g, uint32_t n, enum node_whose whose)
{
	struct node *node = graph_node(g, n);

	g->ahead -= node_is_ahead(node);
	g->left -= node_counts(node) * (g->calls - node_tried(node));
	node->whose = whose;
	g->left += node_counts(node) * (g->calls - node_tried(node));
	g->ahead += node_is_ahead(node);
}

void graph_set_given(struct graph *g, uint32_t n)
{
	graph_set_whose(g, n, NODE_UNASKED);
	graph_node(g, n)->given = 1;
	graph_set_whose(g, n, NODE_MINE);
}

bool graph_has(const struct graph *g, struct hash hash)
{
	return *graph_find_slot(g, hash) != 0;
}

uint32_t graph_put(struct graph *g, struct hash hash, bool *ret_new)
{
	uint32_t *slot = graph_find_slot(g, hash);

	*ret_new = !*slot;
	if (*slot)
		return *slot - 1;
	*slot = graph_new_node(g, hash) + 1;
	if (g->count > g->index_cap / 8 * 7)
		graph_grow_index(g);
	return g->count - 1;
}

void graph_found_from(struct graph *g, uint32_t n, uint32_t from)
{
	uint32_t depth = graph_node(g, from)->depth;

	graph_node(g, n)->depth = depth + (depth < NODE_DEPTH_MAX);
}

size_t graph_bytes(const struct graph *g)
{
	return (size_t)g->count * sizeof(struct node) + g->index_cap * sizeof(*g->index) +
	       g->edge_bytes + g->way_bytes;
}
