/* fuzz_checkpoint.c -- a checkpoint is refused, or is one that a search can go on with, whatever is
 * in it. Its first bytes and its checksum are made right first: the contents are to be reached. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "tests/harness/checkpoints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a search relies on. */
static void check_open_states(const struct begun *b)
{
	const struct open_list *l = &b->x.list;
	uint64_t left = 0;

	for (size_t i = l->head; i < l->tail; i++) {
		const struct open_state *o = l->items[i];

		must(open_state_has_order(o, b->universe.calls) && !o->saved);
		must(o->node < b->x.graph.count || (o->node == NODE_NONE && b->options.bitstate));
		for (const struct call_path *w = o->path; w; w = w->from)
			must(w->call < b->universe.calls && w->depth <= HISTORY_MAX &&
			     w->depth == call_path_depth(w->from) + 1);
		left += b->universe.calls - o->next;
	}
	must(!strategy_branches(b->options.strategy) || b->x.figures.edges_left >= left);
}

static void check_graph(struct graph *g)
{
	uint32_t path[16];

	for (uint32_t n = 0; n < g->count; n++) {
		must(graph_untried(g, n) <= g->calls);
		must(graph_path(g, 0, n, path, 16) >= -1);
	}
}

/* Where a checkpoint says which search it is of. */
enum { MASK_AT = 64, STRATEGY_AT = 80 };

static void load_as(enum strategy strategy, bool bitstate, const unsigned char *bytes, size_t size)
{
	struct err err = { 0 };
	struct begun b;
	int status;

	begun_open(&b, strategy, bitstate);
	status = begun_load(&b, bytes, size, &err);
	must(status == err.code && (!status || status == -EINVAL));
	if (!status) {
		check_open_states(&b);
		check_graph(&b.x.graph);
	}
	begun_close(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char none[8];
	static unsigned char familiar[BEGUN_FAMILIAR];
	unsigned char *bytes;

	if (size < STRATEGY_AT + sizeof(struct hash))
		return 0;
	if (!familiar[0])
		begun_familiar(familiar);
	bytes = must_alloc(size);
	memcpy(bytes, data, size);
	memcpy(bytes, familiar, BEGUN_FAMILIAR);
	begun_seal(bytes, size);
	load_as(bytes[STRATEGY_AT] % STRATEGIES, memcmp(bytes + MASK_AT, none, sizeof(none)), bytes,
		size);
	free(bytes);
	return 0;
}
