/* graph_json.c -- the graph of a small search, for run.json. */
#include "base/buf.h"
#include "explore/explorer.h"
#include "trace/script.h"

static json_t *graph_call_json(const struct universe *u, uint32_t number)
{
	struct buf text = BUF_INIT;
	struct call call;
	json_t *json;

	universe_call(u, number, &call);
	call_print(&call, DIALECT_NATIVE, &text);
	json = json_string(buf_str(&text));
	buf_free(&text);
	return json ? json : json_string("");
}

/* Calls from one state, counted by where they lead. */
static void graph_add_edges(const struct graph *g, const struct universe *u, uint32_t from,
			    json_t *edges)
{
	struct edge edge;
	uint32_t counts[GRAPH_JSON_STATES] = { 0 }, examples[GRAPH_JSON_STATES] = { 0 };

	for (uint32_t at = 0; graph_next_edge(g, from, &at, &edge);) {
		if (edge.to >= g->count || edge.to == from)
			continue;
		if (!counts[edge.to]++ || edge.call < examples[edge.to])
			examples[edge.to] = edge.call;
	}
	for (uint32_t to = 0; to < g->count; to++)
		if (counts[to])
			json_array_append_new(edges, json_pack("{s:i, s:i, s:i, s:o}", "from",
							       (int)from, "to", (int)to, "calls",
							       (int)counts[to], "example",
							       graph_call_json(u, examples[to])));
}

json_t *graph_json(const struct graph *g, const struct universe *u)
{
	json_t *depths, *edges;

	if (g->count > GRAPH_JSON_STATES)
		return NULL;
	depths = json_array();
	edges = json_array();
	for (uint32_t n = 0; n < g->count; n++) {
		json_array_append_new(depths, json_integer(graph_node(g, n)->depth));
		graph_add_edges(g, u, n, edges);
	}
	return json_pack("{s:o, s:o}", "depths", depths, "edges", edges);
}
