/* test_graph.c -- nodes, edges and ways; the sets behind the searches. */
#include <string.h>

#include "graph/bitstate.h"
#include "graph/graph.h"
#include "tests/harness/unit.h"

enum { MANY = 20000, CALLS = 50 };

static struct hash name(uint64_t n)
{
	return hash128(&n, sizeof(n), 0);
}

static uint32_t put(struct graph *g, uint64_t n)
{
	bool is_new;

	return graph_put(g, name(n), &is_new);
}

static void nodes_are_found_again(void **state)
{
	struct graph g;
	bool is_new;

	graph_init(&g, CALLS);
	for (uint64_t n = 0; n < MANY; n++) {
		assert_int_equal(graph_put(&g, name(n), &is_new), n);
		assert_true(is_new);
	}
	for (uint64_t n = 0; n < MANY; n++) {
		assert_int_equal(graph_put(&g, name(n), &is_new), n);
		assert_false(is_new);
	}
	assert_int_equal(g.count, MANY);
	assert_true((double)graph_bytes(&g) / MANY <= 40);
	graph_free(&g);
}

static void edges_come_and_go(void **state)
{
	struct graph g;

	graph_init(&g, 1000);
	put(&g, 0);
	assert_int_equal(graph_edge(&g, 0, 7), NODE_NONE);
	for (uint32_t call = 0; call < 1000; call++)
		graph_set_edge(&g, 0, call, call % 2 ? NODE_BEYOND : 0);
	assert_int_equal(graph_untried(&g, 0), 0);
	/* What is left is counted for nodes that were reached. */
	assert_int_equal(graph_left(&g), 0);
	assert_true(graph_reach(&g, 0));
	assert_false(graph_reach(&g, 0));
	assert_int_equal(graph_left(&g), 0);
	for (uint32_t call = 0; call < 1000; call += 3)
		graph_drop_edge(&g, 0, call);
	assert_int_equal(graph_untried(&g, 0), 334);
	for (uint32_t call = 0; call < 1000; call++)
		assert_int_equal(graph_edge(&g, 0, call), call % 3 == 0 ? NODE_NONE
							  : call % 2    ? NODE_BEYOND
									: 0);
	graph_set_edge(&g, 0, 3, 0);
	graph_set_edge(&g, 0, 3, NODE_BEYOND);
	assert_int_equal(graph_untried(&g, 0), 333);
	assert_int_equal(graph_left(&g), 333);
	/* One that is only predicted does not count, whatever is known of it. */
	put(&g, 1);
	graph_set_edge(&g, 1, 5, NODE_BEYOND);
	assert_int_equal(graph_left(&g), 333);
	graph_reach(&g, 1);
	assert_int_equal(graph_left(&g), 333 + 999);
	graph_free(&g);
}

/* Where an edge leads is a number in the list of edges, too, and no call. */
static void where_an_edge_leads_is_no_call(void **state)
{
	struct graph g;

	graph_init(&g, 1000);
	put(&g, 0);
	for (uint32_t call = 0; call < 20; call++)
		graph_set_edge(&g, 0, call, (500 + call) << 2);
	for (uint32_t call = 0; call < 20; call++) {
		assert_int_equal(graph_edge(&g, 0, call), (500 + call) << 2);
		assert_int_equal(graph_edge(&g, 0, 500 + call), NODE_NONE);
		graph_set_edge(&g, 0, 500 + call, NODE_BEYOND);
		assert_int_equal(graph_edge(&g, 0, 500 + call), NODE_BEYOND);
	}
	graph_free(&g);
}

/* A ring with one shortcut: 0 -> 1 -> ... -> 9 -> 0, and 2 -> 7. */
/* Few edges are a list, many a table, and where numbers are too large for a list all are: each must
 * hold what was set last. */
static void edges_are_those_that_were_set(uint64_t calls, uint32_t first)
{
	const uint32_t ends[] = { 0, 1, NODE_BEYOND, NODE_ELSEWHERE };
	uint32_t expected[1000], count = 0, at = 0;
	struct edge edge;
	struct graph g;

	memset(expected, 0xff, sizeof(expected));
	graph_init(&g, calls);
	put(&g, 0);
	put(&g, 1);
	for (uint32_t i = 0; i < 5000; i++) {
		/* At first few calls, then all. */
		uint32_t call = i * 7919u % (i < 2000 ? 40 : 1000), to = ends[i / 3 % 4];

		if (i % 5 == 4 && expected[call] != NODE_NONE) {
			graph_drop_edge(&g, 0, first + call);
			expected[call] = NODE_NONE;
		} else {
			graph_set_edge(&g, 0, first + call, to);
			expected[call] = to;
		}
		assert_int_equal(graph_edge(&g, 0, first + call), expected[call]);
	}
	for (uint32_t call = 0; call < 1000; call++) {
		assert_int_equal(graph_edge(&g, 0, first + call), expected[call]);
		count += expected[call] != NODE_NONE;
	}
	assert_int_equal(graph_untried(&g, 0), calls - count);
	while (graph_next_edge(&g, 0, &at, &edge)) {
		assert_int_equal(edge.to, expected[edge.call - first]);
		expected[edge.call - first] = NODE_NONE; /* each comes once */
		count--;
	}
	assert_int_equal(count, 0);
	graph_free(&g);
}

static void edges_are_the_same_in_either_form(void **state)
{
	edges_are_those_that_were_set(1000, 0);
	edges_are_those_that_were_set((uint64_t)1 << 31, ((uint32_t)1 << 31) - 1000);
}

static void few_edges_take_little(void **state)
{
	struct graph g;

	graph_init(&g, 1000);
	for (uint32_t n = 0; n < MANY / 10; n++) {
		put(&g, n);
		for (uint32_t call = 0; call < 20; call++)
			graph_set_edge(&g, n, call * 37, call % 4 ? n : NODE_BEYOND);
	}
	assert_true((double)g.edge_bytes / (MANY / 10 * 20) <= 3);
	graph_free(&g);
}

/* The first edges lie in the node. */
static void the_first_edges_take_nothing(void **state)
{
	struct graph g;

	graph_init(&g, 1000000);
	for (uint32_t n = 0; n < MANY / 10; n++) {
		put(&g, n);
		graph_set_edge(&g, n, 400000, n);
		graph_set_edge(&g, n, 500000, n + 1);
		graph_set_edge(&g, n, 600000, NODE_BEYOND);
	}
	assert_int_equal(g.edge_bytes, 0);
	for (uint32_t n = 0; n < MANY / 10; n++) {
		assert_int_equal(graph_edge(&g, n, 400000), n);
		assert_int_equal(graph_edge(&g, n, 500000), n + 1);
		assert_int_equal(graph_edge(&g, n, 600000), NODE_BEYOND);
		assert_int_equal(graph_edge(&g, n, 600001), NODE_NONE);
	}
	graph_free(&g);
}

static void ways_are_shortest(void **state)
{
	uint32_t calls[16];
	struct graph g;

	graph_init(&g, 2);
	for (uint64_t n = 0; n < 10; n++)
		put(&g, n);
	for (uint32_t n = 0; n < 10; n++)
		graph_set_edge(&g, n, 0, (n + 1) % 10);
	graph_set_edge(&g, 2, 1, 7);
	assert_int_equal(graph_path(&g, 0, 8, calls, 16), 4);
	assert_memory_equal(calls, ((uint32_t[]){ 0, 0, 1, 0 }), 4 * sizeof(*calls));
	assert_int_equal(graph_path(&g, 5, 5, calls, 16), 0);
	/* Of a way that is too long, the beginning. */
	memset(calls, 0xff, sizeof(calls));
	assert_int_equal(graph_path(&g, 0, 8, calls, 3), 4);
	assert_memory_equal(calls, ((uint32_t[]){ 0, 0, 1, UINT32_MAX }), 4 * sizeof(*calls));
	/* The marks of searches begin anew. */
	g.mark = UINT32_MAX;
	assert_int_equal(graph_path(&g, 0, 8, calls, 16), 4);
	/* The nearest node with something left, then none at all. */
	for (uint32_t n = 0; n < 10; n++)
		if (n != 2 && n != 5)
			graph_set_edge(&g, n, 1, n);
	assert_int_equal(graph_path(&g, 0, NODE_NONE, calls, 16), 5);
	graph_set_edge(&g, 5, 1, NODE_BEYOND);
	assert_int_equal(graph_path(&g, 0, NODE_NONE, calls, 16), -1);
	graph_free(&g);
}

static void bits_hold_states(void **state)
{
	struct bitstate b;
	unsigned lost = 0;

	bitstate_init(&b, 1 << 20);
	for (uint64_t n = 0; n < MANY; n++)
		lost += !bitstate_add(&b, name(n));
	assert_true(lost < MANY / 1000);
	for (uint64_t n = 0; n < MANY; n++)
		assert_false(bitstate_add(&b, name(n)));
	bitstate_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_found_again),
		cmocka_unit_test(edges_come_and_go),
		cmocka_unit_test(where_an_edge_leads_is_no_call),
		cmocka_unit_test(edges_are_the_same_in_either_form),
		cmocka_unit_test(few_edges_take_little),
		cmocka_unit_test(the_first_edges_take_nothing),
		cmocka_unit_test(ways_are_shortest),
		cmocka_unit_test(bits_hold_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
