/* test_graph.c -- nodes, edges and ways; the sets behind the searches. */
#include <string.h>

#include "explore/bitstate.h"
#include "explore/graph.h"
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
	assert_true((double)graph_bytes(&g) / MANY <= 64);
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

/* A ring with one shortcut: 0 -> 1 -> ... -> 9 -> 0, and 2 -> 7. */
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
		cmocka_unit_test(ways_are_shortest),
		cmocka_unit_test(bits_hold_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
