/* graph.c -- nodes in chunks that never move, found by an index of their hashes. */
#include "explore/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { INDEX_MIN = 1 << 10, EDGES_MIN = 4 };

/* A plan makes nodes before anyone asks again whether there is room. */
enum { NODES_SPARE = 1 << 16 };

enum { NODE_DEPTH_MAX = (1 << 28) - 1 };

void graph_init(struct graph *g, uint64_t calls)
{
	*g = (struct graph){ .calls = calls, .index_cap = INDEX_MIN };
	g->index = must_alloc(INDEX_MIN * sizeof(*g->index));
}

void graph_free(struct graph *g)
{
	for (uint32_t n = 0; n < g->count; n++)
		free(graph_node(g, n)->edges);
	for (uint32_t i = 0; i * GRAPH_CHUNK < g->count; i++)
		free(g->chunks[i]);
	free(g->chunks);
	free(g->index);
	*g = (struct graph){ 0 };
}

static uint32_t *graph_find_slot(const struct graph *g, struct hash hash)
{
	size_t i = hash.lo & (g->index_cap - 1);

	while (g->index[i] && !hash_equal(graph_node(g, g->index[i] - 1)->hash, hash))
		i = (i + 1) & (g->index_cap - 1);
	return &g->index[i];
}

static void graph_grow_index(struct graph *g)
{
	free(g->index);
	g->index_cap *= 2;
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
	}
	*graph_node(g, n) = (struct node){
		.hash = hash,
		.via_node = NODE_NONE,
		.via_call = NODE_NONE,
	};
	return n;
}

bool graph_is_full(const struct graph *g)
{
	return g->count >= NODE_ELSEWHERE - NODES_SPARE;
}

/* Are its untried calls among those that are left? */
static bool node_counts(const struct node *node)
{
	return node->reached && node->whose != NODE_FOREIGN;
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
	g->left += node_counts(node) * (g->calls - node->tried);
	return true;
}

void graph_set_whose(struct graph *g, uint32_t n, enum node_whose whose)
{
	struct node *node = graph_node(g, n);

	g->ahead -= node_is_ahead(node);
	g->left -= node_counts(node) * (g->calls - node->tried);
	node->whose = whose;
	g->left += node_counts(node) * (g->calls - node->tried);
	g->ahead += node_is_ahead(node);
}

void graph_set_given(struct graph *g, uint32_t n)
{
	graph_set_whose(g, n, NODE_UNASKED);
	graph_node(g, n)->given = 1;
	graph_set_whose(g, n, NODE_MINE);
}

uint32_t graph_put(struct graph *g, struct hash hash, bool *ret_new)
{
	uint32_t *slot = graph_find_slot(g, hash);

	*ret_new = !*slot;
	if (*slot)
		return *slot - 1;
	*slot = graph_new_node(g, hash) + 1;
	if (g->count > g->index_cap / 4 * 3)
		graph_grow_index(g);
	return g->count - 1;
}

void graph_found_from(struct graph *g, uint32_t n, uint32_t from)
{
	uint32_t depth = graph_node(g, from)->depth;

	graph_node(g, n)->depth = depth + (depth < NODE_DEPTH_MAX);
}

static struct edge *node_find_edge(const struct node *node, uint32_t call)
{
	uint32_t mask = node->edge_cap - 1, i = (call * 0x9e3779b1u >> 7) & mask;

	while (node->edges[i].call != NODE_NONE && node->edges[i].call != call)
		i = (i + 1) & mask;
	return &node->edges[i];
}

uint32_t graph_edge(const struct graph *g, uint32_t from, uint32_t call)
{
	const struct node *node = graph_node(g, from);
	const struct edge *edge;

	if (!node->edge_cap)
		return NODE_NONE;
	edge = node_find_edge(node, call);
	return edge->call == call ? edge->to : NODE_NONE;
}

static void graph_grow_edges(struct graph *g, struct node *node)
{
	struct node old = *node;

	node->edge_cap = old.edge_cap ? old.edge_cap * 2 : EDGES_MIN;
	node->edges = must_alloc(node->edge_cap * sizeof(*node->edges));
	memset(node->edges, 0xff, node->edge_cap * sizeof(*node->edges));
	for (uint32_t i = 0; i < old.edge_cap; i++)
		if (old.edges[i].call != NODE_NONE)
			*node_find_edge(node, old.edges[i].call) = old.edges[i];
	g->edge_bytes += (node->edge_cap - old.edge_cap) * sizeof(*node->edges);
	free(old.edges);
}

void graph_set_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to)
{
	struct node *node = graph_node(g, from);
	struct edge *edge;

	if (node->edge_used >= node->edge_cap / 4 * 3)
		graph_grow_edges(g, node);
	edge = node_find_edge(node, call);
	if (edge->call == NODE_NONE) {
		*edge = (struct edge){ call, NODE_NONE };
		node->edge_used++;
	}
	if (edge->to == NODE_NONE) {
		node->tried++;
		g->left -= node_counts(node);
	}
	edge->to = to;
}

void graph_drop_edge(struct graph *g, uint32_t from, uint32_t call)
{
	struct node *node = graph_node(g, from);
	struct edge *edge = node_find_edge(node, call);

	must(edge->call == call && edge->to != NODE_NONE);
	edge->to = NODE_NONE;
	node->tried--;
	g->left += node_counts(node);
}

/* Breadth first from `from`; via_node and via_call of the nodes marked lead back. */
struct graph_wave {
	uint32_t *queue;
	size_t head, tail, cap;
};

static void wave_push(struct graph *g, struct graph_wave *w, uint32_t n, uint32_t via_node,
		      uint32_t via_call)
{
	struct node *node = graph_node(g, n);

	if (node->mark == g->mark)
		return;
	node->mark = g->mark;
	node->via_node = via_node;
	node->via_call = via_call;
	if (w->tail == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 64;
		w->queue = must_realloc(w->queue, w->cap * sizeof(*w->queue));
	}
	w->queue[w->tail++] = n;
}

static bool graph_is_goal(const struct graph *g, uint32_t n, uint32_t to)
{
	if (to != NODE_NONE)
		return n == to;
	return graph_untried(g, n) > 0 && graph_node(g, n)->whose != NODE_FOREIGN;
}

static int64_t graph_walk_back(const struct graph *g, uint32_t n, uint32_t *ret_calls, size_t max)
{
	const struct node *node;
	size_t len = 0;

	for (uint32_t at = n; graph_node(g, at)->via_node != NODE_NONE;
	     at = graph_node(g, at)->via_node)
		len++;
	for (size_t i = len; i--; n = node->via_node) {
		node = graph_node(g, n);
		if (i < max)
			ret_calls[i] = node->via_call;
	}
	return (int64_t)len;
}

/* The marks of earlier searches mean nothing to this one. */
static void graph_new_mark(struct graph *g)
{
	if (++g->mark)
		return;
	for (uint32_t n = 0; n < g->count; n++)
		graph_node(g, n)->mark = 0;
	g->mark = 1;
}

int64_t graph_path(struct graph *g, uint32_t from, uint32_t to, uint32_t *ret_calls, size_t max)
{
	struct graph_wave w = { 0 };
	const struct node *node;
	int64_t len = -1;
	uint32_t n;

	graph_new_mark(g);
	wave_push(g, &w, from, NODE_NONE, NODE_NONE);
	while (w.head < w.tail && len < 0) {
		n = w.queue[w.head++];
		if (graph_is_goal(g, n, to)) {
			len = graph_walk_back(g, n, ret_calls, max);
			break;
		}
		node = graph_node(g, n);
		for (uint32_t i = 0; i < node->edge_cap; i++)
			if (node->edges[i].call != NODE_NONE && node->edges[i].to < NODE_ELSEWHERE)
				wave_push(g, &w, node->edges[i].to, n, node->edges[i].call);
	}
	free(w.queue);
	return len;
}

size_t graph_bytes(const struct graph *g)
{
	return (size_t)g->count * sizeof(struct node) + g->index_cap * sizeof(*g->index) +
	       g->edge_bytes;
}
