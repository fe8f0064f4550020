/* view_graph.c -- the states of a small search as a picture: by how many calls each is reached, and
 * which calls lead from one to another. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "report/html.h"
#include "report/svg.h"
#include "report/view.h"

enum { GRAPH_STATES = 60, GRAPH_COLUMN = 112, GRAPH_ROW = 34, GRAPH_EDGES = 2000 };

struct graph_places {
	double x[GRAPH_STATES], y[GRAPH_STATES];
	size_t count, columns, rows; /* rows: of the longest column */
};

/* A column for each depth; states in it in the order of their discovery, in the middle. */
static bool graph_place(const json_t *depths, struct graph_places *ret)
{
	size_t in_column[GRAPH_STATES] = { 0 }, columns[GRAPH_STATES], seen[GRAPH_STATES] = { 0 };
	const json_t *depth;
	size_t i;

	*ret = (struct graph_places){ .count = json_array_size(depths) };
	if (!ret->count || ret->count > GRAPH_STATES)
		return false;
	json_array_foreach(depths, i, depth)
	{
		json_int_t at = json_integer_value(depth);

		if (at < 0 || at >= GRAPH_STATES)
			return false;
		columns[i] = (size_t)at;
		if (++in_column[at] > ret->rows)
			ret->rows = in_column[at];
		if (columns[i] >= ret->columns)
			ret->columns = columns[i] + 1;
	}
	for (i = 0; i < ret->count; i++) {
		size_t column = columns[i];

		ret->x[i] = 24 + (double)column * GRAPH_COLUMN;
		ret->y[i] = 24 +
			    ((double)seen[column]++ + (double)(ret->rows - in_column[column]) / 2) *
				    GRAPH_ROW;
	}
	return true;
}

/* A curve, bent to one side, so that the way back is another one. */
static void graph_edge_draw(const struct graph_places *p, size_t from, size_t to, const char *title,
			    struct buf *out)
{
	double bend = p->x[from] == p->x[to] ? 40 : 0, side = p->x[from] <= p->x[to] ? -8 : 8;

	buf_addf(out, "<path class=\"way\" d=\"M%.1f %.1f Q%.1f %.1f %.1f %.1f\"><title>",
		 p->x[from], p->y[from], (p->x[from] + p->x[to]) / 2 + bend,
		 (p->y[from] + p->y[to]) / 2 + side, p->x[to], p->y[to]);
	html_text(out, title);
	buf_adds(out, "</title></path>");
}

static void graph_edges_draw(const struct graph_places *p, const json_t *edges, struct buf *out)
{
	const json_t *edge;
	size_t i;

	json_array_foreach(edges, i, edge)
	{
		long long from = view_count(edge, "from"), to = view_count(edge, "to");
		char title[300];

		if (i == GRAPH_EDGES)
			break;
		if (from < 0 || to < 0 || from >= (long long)p->count || to >= (long long)p->count)
			continue;
		snprintf(title, sizeof(title), "%lld to %lld: %lld call%s, as %.200s", from, to,
			 view_count(edge, "calls"), view_count(edge, "calls") == 1 ? "" : "s",
			 json_text(edge, "example"));
		graph_edge_draw(p, (size_t)from, (size_t)to, title, out);
	}
}

json_t *view_graph(const json_t *run)
{
	const json_t *graph = json_object_get(run, "state_graph");
	struct buf svg = BUF_INIT;
	struct graph_places p;
	char number[32];
	json_t *view;

	if (!graph_place(json_object_get(graph, "depths"), &p))
		return NULL;
	svg_begin(&svg, 48 + (int)(p.columns - 1) * GRAPH_COLUMN, 24 + (int)p.rows * GRAPH_ROW,
		  "states and the calls between them");
	graph_edges_draw(&p, json_object_get(graph, "edges"), &svg);
	for (size_t i = 0; i < p.count; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		svg_rect(&svg, p.x[i] - 13, p.y[i] - 9, 26, 18, i ? "state" : "state first", "");
		svg_text(&svg, p.x[i], p.y[i] + 4, "middle", "inside", number);
	}
	svg_end(&svg);
	view = json_pack("{s:o, s:I, s:I}", "svg", view_text(svg.data), "states",
			 (json_int_t)p.count, "ways",
			 (json_int_t)json_array_size(json_object_get(graph, "edges")));
	buf_free(&svg);
	return view;
}
