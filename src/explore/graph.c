/* graph.c -- nodes in chunks that never move, found by an index of their hashes. */
#include "explore/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"

enum { INDEX_MIN = 1 << 10 };

/* A list grows by what malloc gives at once, up to so many words. */
enum { LIST_MIN = 6, LIST_STEP = 4, LIST_MAX = 254, TABLE_MIN = 256 };

/* The low bits of a word of the list; the others are the call. */
enum word_kind {
	WORD_STAYS,
	WORD_BEYOND,
	WORD_LEADS /* the next word says where */,
	WORD_BITS = 2
};
enum { WORD_KIND = (1 << WORD_BITS) - 1, WORD_CALLS = 1 << (32 - WORD_BITS - 1) };

/* A plan makes nodes before anyone asks again whether there is room. */
enum { NODES_SPARE = 1 << 16 };

enum { NODE_DEPTH_MAX = (1 << 27) - 1 };

void graph_init(struct graph *g, uint64_t calls)
{
	*g = (struct graph){ .calls = calls, .index_cap = INDEX_MIN };
	g->index = must_alloc(INDEX_MIN * sizeof(*g->index));
}

void graph_free(struct graph *g)
{
	for (uint32_t n = 0; n < g->count; n++)
		free(graph_node(g, n)->edges);
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
	if (g->count > g->index_cap / 4 * 3)
		graph_grow_index(g);
	return g->count - 1;
}

void graph_found_from(struct graph *g, uint32_t n, uint32_t from)
{
	uint32_t depth = graph_node(g, from)->depth;

	graph_node(g, n)->depth = depth + (depth < NODE_DEPTH_MAX);
}

/* ---- edges ---- */

static uint32_t word_len(uint32_t word)
{
	return (word & WORD_KIND) == WORD_LEADS ? 2 : 1;
}

/* Edges of node number n, in either form. */
static bool node_next_edge(const struct node *node, uint32_t n, uint32_t *at, struct edge *ret)
{
	const struct edge *table = (const struct edge *)node->edges;
	uint32_t word;

	if (!node->is_table) {
		if (*at >= node->edge_used)
			return false;
		word = node->edges[*at];
		ret->call = word >> WORD_BITS;
		ret->to = (word & WORD_KIND) == WORD_STAYS ? n
			: (word & WORD_KIND) == WORD_LEADS ? node->edges[*at + 1]
							   : NODE_BEYOND;
		*at += word_len(word);
		return true;
	}
	while (*at < node->edge_cap && table[*at].to == NODE_NONE)
		++*at;
	if (*at >= node->edge_cap)
		return false;
	*ret = table[(*at)++];
	return true;
}

/* ---- edges in a table ---- */

/* The slot of a call, or the empty one where it belongs: its call is NODE_NONE. */
static struct edge *table_find(const struct node *node, uint32_t call)
{
	struct edge *table = (struct edge *)node->edges;
	uint32_t i = (uint32_t)((uint64_t)(call * 0x9e3779b1u) * node->edge_cap >> 32);

	while (table[i].call != NODE_NONE && table[i].call != call)
		i = i + 1 < node->edge_cap ? i + 1 : 0;
	return &table[i];
}

static void table_set(struct node *node, uint32_t call, uint32_t to)
{
	struct edge *edge = table_find(node, call);

	node->edge_used += edge->call == NODE_NONE;
	*edge = (struct edge){ call, to };
}

/* Moves all edges to a larger table. */
static void graph_grow_table(struct graph *g, uint32_t n)
{
	struct node *node = graph_node(g, n), old = *node;
	size_t before = old.edge_cap * (old.is_table ? sizeof(struct edge) : sizeof(uint32_t));
	struct edge edge;
	uint32_t at = 0;

	node->edge_cap = old.is_table ? old.edge_cap / 2 * 3 : TABLE_MIN;
	node->edges = must_alloc(node->edge_cap * sizeof(struct edge));
	memset(node->edges, 0xff, node->edge_cap * sizeof(struct edge));
	node->edge_used = 0;
	node->is_table = 1;
	while (node_next_edge(&old, n, &at, &edge))
		table_set(node, edge.call, edge.to);
	g->edge_bytes += node->edge_cap * sizeof(struct edge) - before;
	free(old.edges);
}

/* ---- edges in a list ---- */

static enum word_kind word_kind(uint32_t n, uint32_t to)
{
	if (to == n)
		return WORD_STAYS;
	return to == NODE_BEYOND ? WORD_BEYOND : WORD_LEADS;
}

/* Several words at once. */
typedef uint32_t words __attribute__((vector_size(16), aligned(sizeof(uint32_t))));
enum { WORDS = sizeof(words) / sizeof(uint32_t) };

/* Is there a word that could be that of the call, or say where another one leads? Most calls that
 * are asked for have none, and where words begin need not be known to see that. */
static bool list_may_have(const struct node *node, uint32_t call)
{
	words found = { 0 };
	uint32_t any = 0, at = 0;

	for (; at + WORDS <= node->edge_used; at += WORDS)
		found |= (words)(*(const words *)(node->edges + at) >> WORD_BITS == call);
	for (; at < node->edge_used; at++)
		any |= node->edges[at] >> WORD_BITS == call;
	for (unsigned i = 0; i < WORDS; i++)
		any |= found[i];
	return any;
}

/* The words of a call; those behind the last where it has none. */
static uint32_t list_find(const struct node *node, uint32_t call)
{
	uint32_t at = 0;

	if (!list_may_have(node, call))
		return node->edge_used;
	while (at < node->edge_used && node->edges[at] >> WORD_BITS != call)
		at += word_len(node->edges[at]);
	return at;
}

static void list_remove(struct node *node, uint32_t at)
{
	uint32_t len = word_len(node->edges[at]);

	node->edge_used -= len;
	memmove(node->edges + at, node->edges + at + len,
		(node->edge_used - at) * sizeof(*node->edges));
}

static void graph_add_to_list(struct graph *g, uint32_t n, uint32_t call, uint32_t to)
{
	struct node *node = graph_node(g, n);
	enum word_kind kind = word_kind(n, to);

	if (node->edge_used + 2 > node->edge_cap) {
		uint32_t more = node->edge_cap ? LIST_STEP : LIST_MIN;

		node->edge_cap += more;
		node->edges = must_realloc(node->edges, node->edge_cap * sizeof(*node->edges));
		g->edge_bytes += more * sizeof(*node->edges);
	}
	node->edges[node->edge_used++] = call << WORD_BITS | kind;
	if (kind == WORD_LEADS)
		node->edges[node->edge_used++] = to;
}

/* ---- edges in either form ---- */

bool graph_next_edge(const struct graph *g, uint32_t n, uint32_t *at, struct edge *ret)
{
	return node_next_edge(graph_node(g, n), n, at, ret);
}

uint32_t graph_edge(const struct graph *g, uint32_t from, uint32_t call)
{
	const struct node *node = graph_node(g, from);
	struct edge edge;
	uint32_t at;

	if (node->is_table)
		return table_find(node, call)->to;
	at = list_find(node, call);
	return node_next_edge(node, from, &at, &edge) ? edge.to : NODE_NONE;
}

/* Puts an edge that is not there. */
static void graph_add_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to)
{
	struct node *node = graph_node(g, from);

	if (!node->is_table && (node->edge_used + 2 > LIST_MAX || g->calls > WORD_CALLS))
		graph_grow_table(g, from);
	else if (node->is_table && node->edge_used >= node->edge_cap / 8 * 7)
		graph_grow_table(g, from);
	if (node->is_table)
		table_set(node, call, to);
	else
		graph_add_to_list(g, from, call, to);
}

static void graph_remove_edge(struct graph *g, uint32_t from, uint32_t call)
{
	struct node *node = graph_node(g, from);

	if (node->is_table)
		table_find(node, call)->to = NODE_NONE;
	else
		list_remove(node, list_find(node, call));
}

void graph_set_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to)
{
	struct node *node = graph_node(g, from);
	uint32_t before = graph_edge(g, from, call);

	if (before == to)
		return;
	if (before != NODE_NONE) {
		graph_remove_edge(g, from, call);
	} else {
		node->tried++;
		g->left -= node_counts(node);
	}
	graph_add_edge(g, from, call, to);
}

void graph_drop_edge(struct graph *g, uint32_t from, uint32_t call)
{
	struct node *node = graph_node(g, from);

	must(graph_edge(g, from, call) != NODE_NONE);
	graph_remove_edge(g, from, call);
	node->tried--;
	g->left += node_counts(node);
}

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

size_t graph_bytes(const struct graph *g)
{
	return (size_t)g->count * sizeof(struct node) + g->index_cap * sizeof(*g->index) +
	       g->edge_bytes + g->way_bytes;
}
