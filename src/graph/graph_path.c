/* graph_path.c -- the shortest way between nodes, breadth first along the known edges. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "graph/graph.h"

static struct node_way *graph_way(struct graph *g, uint32_t n)
{
	struct node_way **chunk = &g->ways[n / GRAPH_CHUNK];

	if (!*chunk) {
		*chunk = must_alloc(GRAPH_CHUNK * sizeof(**chunk));
		g->way_bytes += GRAPH_CHUNK * sizeof(**chunk);
	}
	return &(*chunk)[n % GRAPH_CHUNK];
}

/* Breadth first from `from`; the ways of the nodes marked lead back. */
struct graph_wave {
	uint32_t *queue;
	size_t head, tail, cap;
};

static void wave_push(struct graph *g, struct graph_wave *w, uint32_t n, uint32_t via_node,
		      uint32_t via_call)
{
	struct node_way *way = graph_way(g, n);

	if (way->mark == g->mark)
		return;
	*way = (struct node_way){ g->mark, via_node, via_call };
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

static int64_t graph_walk_back(struct graph *g, uint32_t n, uint32_t *ret_calls, size_t max)
{
	const struct node_way *way;
	size_t len = 0;

	for (uint32_t at = n; graph_way(g, at)->via_node != NODE_NONE;
	     at = graph_way(g, at)->via_node)
		len++;
	for (size_t i = len; i--; n = way->via_node) {
		way = graph_way(g, n);
		if (i < max)
			ret_calls[i] = way->via_call;
	}
	return (int64_t)len;
}

/* The marks of earlier searches mean nothing to this one. */
static void graph_new_mark(struct graph *g)
{
	if (++g->mark)
		return;
	for (uint32_t i = 0; i * GRAPH_CHUNK < g->count; i++)
		if (g->ways[i])
			memset(g->ways[i], 0, GRAPH_CHUNK * sizeof(**g->ways));
	g->mark = 1;
}

int64_t graph_path(struct graph *g, uint32_t from, uint32_t to, uint32_t *ret_calls, size_t max)
{
	struct graph_wave w = { 0 };
	struct edge edge;
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
		for (uint32_t at = 0; graph_next_edge(g, n, &at, &edge);)
			if (edge.to < NODE_ELSEWHERE)
				wave_push(g, &w, edge.to, n, edge.call);
	}
	free(w.queue);
	return len;
}
