/* graph_json.h -- the graph of a small search, for run.json. */
#ifndef EXPLORE_GRAPH_JSON_H
#define EXPLORE_GRAPH_JSON_H

#include <jansson.h>

#include "explore/graph.h"
#include "universe/universe.h"

enum { GRAPH_JSON_STATES = 60 };

/* {"depths": of each state, "edges": [{"from", "to", "calls", "example"}]}; calls that lead from a
 * state to itself are left out. NULL: more than GRAPH_JSON_STATES. */
json_t *graph_json(const struct graph *g, const struct universe *u);

#endif
