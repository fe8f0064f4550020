/* graph_edges.c -- the edges of a node: a few bytes in the node, a list of bytes, or a table.
 *
 * In bytes, an edge is its call and its kind as one number, and where it leads elsewhere, how far
 * away the other node's number is as another: seven bits a byte, the last byte below 128. What was
 * found in a row has numbers in a row, so that most edges take three to five bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "graph/graph.h"

/* A list grows by what malloc gives at once, up to so many bytes; a table has more edges than fit
 * there. */
enum { LIST_MIN = 20, LIST_STEP = 16, LIST_MAX = 20 + 16 * 16, TABLE_MIN = 256 };

enum edge_kind { EDGE_STAYS, EDGE_BEYOND, EDGE_LEADS, EDGE_ELSEWHERE, KIND_BITS = 2 };
enum { KIND_MASK = (1 << KIND_BITS) - 1, EDGE_BYTES_MAX = 10, FEW_MAX = 7 };

struct edge_list {
	uint16_t cap, used;
	uint8_t bytes[];
};

struct edge_table {
	uint32_t cap, used;
	struct edge edges[];
};

/* ---- where they are ---- */

static void *node_memory(const struct node *node)
{
	void *memory;

	memcpy(&memory, node->own + sizeof(uint32_t), sizeof(memory));
	return memory;
}

static void node_set_memory(struct node *node, enum node_form form, uint32_t tried, void *memory)
{
	node->form = form;
	node->few = 0;
	memcpy(node->own, &tried, sizeof(tried));
	memcpy(node->own + sizeof(tried), &memory, sizeof(memory));
}

void node_free_edges(struct node *node)
{
	if (node->form != NODE_OWN)
		free(node_memory(node));
}

static void node_count_tried(struct node *node, int more)
{
	uint32_t tried = node_tried(node) + (uint32_t)more;

	if (node->form == NODE_OWN)
		node->few = tried & FEW_MAX;
	else
		memcpy(node->own, &tried, sizeof(tried));
}

/* ---- numbers in bytes ---- */

static inline const uint8_t *bytes_get(const uint8_t *at, uint64_t *ret)
{
	uint64_t number = *at & 0x7f;

	for (unsigned shift = 7; *at++ & 0x80; shift += 7)
		number |= (uint64_t)(*at & 0x7f) << shift;
	*ret = number;
	return at;
}

static uint8_t *bytes_put(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

/* Small numbers for small distances in either direction. */
static uint64_t distance_pack(uint32_t from, uint32_t to)
{
	return to >= from ? (uint64_t)(to - from) << 1 : (uint64_t)(from - to) << 1 | 1;
}

static uint32_t distance_unpack(uint32_t from, uint64_t packed)
{
	return packed & 1 ? from - (uint32_t)(packed >> 1) : from + (uint32_t)(packed >> 1);
}

/* The edge of node number n at this place, and the place behind it. */
static inline const uint8_t *edge_get(const uint8_t *at, uint32_t n, struct edge *ret)
{
	uint64_t word, distance;

	at = bytes_get(at, &word);
	ret->call = (uint32_t)(word >> KIND_BITS);
	switch ((enum edge_kind)(word & KIND_MASK)) {
	case EDGE_BEYOND:
		ret->to = NODE_BEYOND;
		break;
	case EDGE_ELSEWHERE:
		ret->to = NODE_ELSEWHERE;
		break;
	case EDGE_LEADS:
		at = bytes_get(at, &distance);
		ret->to = distance_unpack(n, distance);
		break;
	default:
		ret->to = n;
	}
	return at;
}

static enum edge_kind edge_kind(uint32_t n, uint32_t to)
{
	if (to == n)
		return EDGE_STAYS;
	if (to == NODE_BEYOND)
		return EDGE_BEYOND;
	return to == NODE_ELSEWHERE ? EDGE_ELSEWHERE : EDGE_LEADS;
}

/* Returns how many bytes it takes. */
static unsigned edge_put(uint8_t ret[EDGE_BYTES_MAX], uint32_t n, uint32_t call, uint32_t to)
{
	enum edge_kind kind = edge_kind(n, to);
	uint8_t *at = bytes_put(ret, (uint64_t)call << KIND_BITS | kind);

	if (kind == EDGE_LEADS)
		at = bytes_put(at, distance_pack(n, to));
	return (unsigned)(at - ret);
}

/* ---- edges in bytes ---- */

struct edge_bytes {
	uint8_t *bytes;
	uint32_t used, cap;
};

static struct edge_bytes node_bytes(const struct node *node, uint32_t n)
{
	struct edge_list *list;
	const uint8_t *end = node->own;
	struct edge edge;

	if (node->form == NODE_LIST) {
		list = node_memory(node);
		return (struct edge_bytes){ list->bytes, list->used, list->cap };
	}
	for (unsigned i = 0; i < node->few; i++)
		end = edge_get(end, n, &edge);
	return (struct edge_bytes){ (uint8_t *)node->own, (uint32_t)(end - node->own),
				    sizeof(node->own) };
}

/* The place of a call's edge, and the place behind it; both the end where it has none. */
static const uint8_t *bytes_find(const struct edge_bytes *b, uint32_t n, uint32_t call,
				 struct edge *ret, const uint8_t **ret_behind)
{
	const uint8_t *at = b->bytes, *end = b->bytes + b->used;

	while (at < end) {
		*ret_behind = edge_get(at, n, ret);
		if (ret->call == call)
			return at;
		at = *ret_behind;
	}
	*ret_behind = end;
	ret->to = NODE_NONE;
	return end;
}

static void list_set_used(struct node *node, uint32_t used)
{
	struct edge_list *list;

	if (node->form != NODE_LIST)
		return;
	list = node_memory(node);
	list->used = (uint16_t)used;
}

static void node_remove_bytes(struct node *node, uint32_t n, uint32_t call)
{
	struct edge_bytes b = node_bytes(node, n);
	const uint8_t *behind, *at;
	struct edge edge;

	at = bytes_find(&b, n, call, &edge, &behind);
	memmove(b.bytes + (at - b.bytes), behind, (size_t)(b.bytes + b.used - behind));
	list_set_used(node, b.used - (uint32_t)(behind - at));
}

/* Moves the bytes to a list with more room. */
static struct edge_bytes graph_grow_list(struct graph *g, struct node *node,
					 const struct edge_bytes *b)
{
	uint32_t cap = b->cap < LIST_MIN ? LIST_MIN : b->cap + LIST_STEP;
	bool is_list = node->form == NODE_LIST;
	uint32_t tried = node_tried(node);
	struct edge_list *list =
		must_realloc(is_list ? node_memory(node) : NULL, sizeof(*list) + cap);

	if (!is_list)
		memcpy(list->bytes, b->bytes, b->used);
	g->edge_bytes += cap + sizeof(*list) - (is_list ? b->cap + sizeof(*list) : 0);
	list->cap = (uint16_t)cap;
	list->used = (uint16_t)b->used;
	node_set_memory(node, NODE_LIST, tried, list);
	return (struct edge_bytes){ list->bytes, b->used, cap };
}

/* False where there are too many for a list. */
static bool graph_add_bytes(struct graph *g, struct node *node, uint32_t n, uint32_t call,
			    uint32_t to)
{
	struct edge_bytes b = node_bytes(node, n);
	uint8_t bytes[EDGE_BYTES_MAX];
	unsigned len = edge_put(bytes, n, call, to);

	if (b.used + len > LIST_MAX)
		return false;
	if (b.used + len > b.cap || (node->form == NODE_OWN && node->few == FEW_MAX))
		b = graph_grow_list(g, node, &b);
	memcpy(b.bytes + b.used, bytes, len);
	list_set_used(node, b.used + len);
	return true;
}

/* ---- edges in a table ---- */

/* The slot of a call, or the empty one where it belongs: its call is NODE_NONE. */
static struct edge *table_find(struct edge_table *t, uint32_t call)
{
	uint32_t i = (uint32_t)((uint64_t)(call * 0x9e3779b1u) * t->cap >> 32);

	while (t->edges[i].call != NODE_NONE && t->edges[i].call != call)
		i = i + 1 < t->cap ? i + 1 : 0;
	return &t->edges[i];
}

static void table_set(struct edge_table *t, uint32_t call, uint32_t to)
{
	struct edge *edge = table_find(t, call);

	t->used += edge->call == NODE_NONE;
	*edge = (struct edge){ call, to };
}

/* Edges of node number n, in any form. */
static bool node_next_edge(const struct node *node, uint32_t n, uint32_t *at, struct edge *ret)
{
	const struct edge_table *t;
	struct edge_bytes b;

	if (node->form != NODE_TABLE) {
		b = node_bytes(node, n);
		if (*at >= b.used)
			return false;
		*at = (uint32_t)(edge_get(b.bytes + *at, n, ret) - b.bytes);
		return true;
	}
	t = node_memory(node);
	while (*at < t->cap && t->edges[*at].to == NODE_NONE)
		++*at;
	if (*at >= t->cap)
		return false;
	*ret = t->edges[(*at)++];
	return true;
}

static size_t node_memory_bytes(const struct node *node)
{
	const struct edge_table *t = node_memory(node);
	const struct edge_list *list = node_memory(node);

	if (node->form == NODE_TABLE)
		return sizeof(*t) + t->cap * sizeof(struct edge);
	return node->form == NODE_LIST ? sizeof(*list) + list->cap : 0;
}

/* Moves all edges to a table, or a larger one. */
static void graph_grow_table(struct graph *g, uint32_t n)
{
	struct node *node = graph_node(g, n), old = *node;
	const struct edge_table *before = node_memory(node);
	uint32_t cap = old.form == NODE_TABLE ? before->cap / 2 * 3 : TABLE_MIN, at = 0;
	struct edge_table *t = must_realloc(NULL, sizeof(*t) + cap * sizeof(struct edge));
	struct edge edge;

	*t = (struct edge_table){ .cap = cap };
	memset(t->edges, 0xff, cap * sizeof(struct edge));
	while (node_next_edge(&old, n, &at, &edge))
		table_set(t, edge.call, edge.to);
	node_set_memory(node, NODE_TABLE, node_tried(&old), t);
	g->edge_bytes += node_memory_bytes(node) - node_memory_bytes(&old);
	node_free_edges(&old);
}

/* ---- edges in any form ---- */

bool graph_next_edge(const struct graph *g, uint32_t n, uint32_t *at, struct edge *ret)
{
	return node_next_edge(graph_node(g, n), n, at, ret);
}

/* The few edges in the node itself, without finding out where they end. */
static uint32_t node_own_edge(const struct node *node, uint32_t n, uint32_t call)
{
	const uint8_t *at = node->own;
	struct edge edge;

	for (unsigned i = 0; i < node->few; i++) {
		at = edge_get(at, n, &edge);
		if (edge.call == call)
			return edge.to;
	}
	return NODE_NONE;
}

uint32_t graph_edge(const struct graph *g, uint32_t from, uint32_t call)
{
	const struct node *node = graph_node(g, from);
	const uint8_t *behind;
	struct edge_bytes b;
	struct edge edge;

	if (node->form == NODE_OWN)
		return node_own_edge(node, from, call);
	if (node->form == NODE_TABLE)
		return table_find(node_memory(node), call)->to;
	b = node_bytes(node, from);
	bytes_find(&b, from, call, &edge, &behind);
	return edge.to;
}

void graph_add_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to)
{
	struct node *node = graph_node(g, from);
	const struct edge_table *t = node_memory(node);

	if (node->form == NODE_TABLE || !graph_add_bytes(g, node, from, call, to)) {
		if (node->form != NODE_TABLE || t->used >= t->cap / 8 * 7)
			graph_grow_table(g, from);
		table_set(node_memory(node), call, to);
	}
	node_count_tried(node, 1);
	g->left -= node_counts(node);
}

static void graph_remove_edge(struct graph *g, uint32_t from, uint32_t call)
{
	struct node *node = graph_node(g, from);

	if (node->form == NODE_TABLE)
		table_find(node_memory(node), call)->to = NODE_NONE;
	else
		node_remove_bytes(node, from, call);
}

void graph_drop_edge(struct graph *g, uint32_t from, uint32_t call)
{
	struct node *node = graph_node(g, from);

	must(graph_edge(g, from, call) != NODE_NONE);
	graph_remove_edge(g, from, call);
	node_count_tried(node, -1);
	g->left += node_counts(node);
}

void graph_set_edge(struct graph *g, uint32_t from, uint32_t call, uint32_t to)
{
	uint32_t before = graph_edge(g, from, call);

	if (before == to)
		return;
	if (before != NODE_NONE)
		graph_drop_edge(g, from, call);
	graph_add_edge(g, from, call, to);
}
