/* test_symbolic_tree.c -- decisions that are known, and the order of inputs. */
#include <stdlib.h>

#include "symbolic/frontier.h"
#include "symbolic/path_tree.h"
#include "tests/harness/unit.h"

static const struct hash root = { 0, 0 };

static void nodes_are_known_by_what_leads_to_them(void **state)
{
	struct path_tree t = { 0 };
	struct hash first = path_tree_node(root, 11, 0), same = path_tree_node(root, 11, 0),
		    yes = path_tree_edge(first, 1), no = path_tree_edge(first, 0);

	assert_true(hash_equal(first, same));
	assert_false(hash_equal(first, path_tree_node(root, 12, 0)));
	assert_false(hash_equal(first, path_tree_node(root, 11, 1)));
	assert_false(hash_equal(path_tree_node(yes, 11, 0), path_tree_node(no, 11, 0)));
	assert_int_equal(path_tree_state(&t, yes), EDGE_NEW);
	path_tree_set(&t, yes, EDGE_TAKEN);
	path_tree_set(&t, no, EDGE_IMPOSSIBLE);
	assert_int_equal(path_tree_state(&t, yes), EDGE_TAKEN);
	assert_int_equal(path_tree_state(&t, no), EDGE_IMPOSSIBLE);
	path_tree_free(&t);
}

static void values_are_kept_once(void **state)
{
	struct path_tree t = { 0 };
	struct path_values *v = path_tree_values(&t, root);

	for (uint64_t i = 0; i < 2 * PATH_VALUES_MAX; i++)
		path_values_add(v, i / 4);
	assert_int_equal(v->count, PATH_VALUES_MAX / 2);
	for (uint64_t i = 0; i < 2 * PATH_VALUES_MAX; i++)
		path_values_add(v, i);
	assert_int_equal(v->count, PATH_VALUES_MAX);
	assert_false(v->all);
	assert_ptr_equal(path_tree_values(&t, root), v);
	assert_int_equal(path_tree_values(&t, path_tree_node(root, 1, 0))->count, 0);
	path_tree_free(&t);
}

/* The first byte of the next input; -1: there is none. */
static int next(struct frontier *f)
{
	struct frontier_input input;
	int byte;

	if (!frontier_take(f, &input))
		return -1;
	byte = input.values[0];
	free(input.values);
	return byte;
}

static void places_take_turns(void **state)
{
	struct frontier f;

	frontier_init(&f, 1);
	for (uint8_t i = 0; i < 5; i++)
		assert_true(frontier_add(&f, &(uint8_t){ i }, root, 100));
	assert_true(frontier_add(&f, &(uint8_t){ 50 }, root, 200));
	assert_true(frontier_add(&f, &(uint8_t){ 60 }, root, 0));
	assert_false(frontier_add(&f, &(uint8_t){ 3 }, root, 300));
	assert_int_equal(frontier_turned(&f, 100), 5);
	assert_int_equal(frontier_turned(&f, 200), 1);
	assert_int_equal(frontier_turned(&f, 7), 0);
	assert_int_equal(next(&f), 60);
	assert_int_equal(next(&f), 0);
	assert_int_equal(next(&f), 50);
	for (int i = 1; i < 5; i++)
		assert_int_equal(next(&f), i);
	assert_int_equal(next(&f), -1);
	frontier_free(&f);
}

static void an_input_comes_again_after_others(void **state)
{
	struct frontier_input input;
	struct frontier f;

	frontier_init(&f, 1);
	frontier_add(&f, &(uint8_t){ 9 }, root, 0);
	assert_true(frontier_take(&f, &input));
	assert_false(input.again);
	frontier_again(&f, &input, 2, 32);
	free(input.values);
	frontier_add(&f, &(uint8_t){ 10 }, root, 100);
	assert_int_equal(next(&f), 10);
	assert_true(frontier_take(&f, &input));
	assert_int_equal(input.values[0], 9);
	assert_int_equal(input.level, 2);
	assert_true(input.again);
	free(input.values);
	frontier_add(&f, &(uint8_t){ 11 }, root, 0);
	frontier_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_are_known_by_what_leads_to_them),
		cmocka_unit_test(values_are_kept_once),
		cmocka_unit_test(places_take_turns),
		cmocka_unit_test(an_input_comes_again_after_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
