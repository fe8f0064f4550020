/* test_pmap.c -- the persistent map. */
#include <stdlib.h>

#include "base/must.h"
#include "base/rng.h"
#include "tests/harness/unit.h"
#include "tree/pmap.h"

struct number {
	struct ref ref;
	uint64_t value;
};

static size_t live; /* objects that exist */

static struct ref *number_new(uint64_t value)
{
	struct number *n = must_alloc(sizeof(*n));

	live++;
	n->ref.count = 1;
	n->value = value;
	return &n->ref;
}

static struct ref *number_copy(const struct ref *object)
{
	return number_new(((const struct number *)object)->value);
}

static void number_free(struct ref *object)
{
	live--;
	free(object);
}

static const struct pmap_type type = { number_copy, number_free };

static uint64_t value_at(const struct pmap *m, uint64_t key)
{
	const struct number *n = (const struct number *)pmap_get(m, key);

	return n ? n->value : 0;
}

static void empty_map_has_nothing(void **state)
{
	struct pmap m = PMAP_INIT;
	uint64_t key = 0;

	assert_null(pmap_get(&m, 0));
	assert_null(pmap_edit(&m, &type, 0));
	assert_false(pmap_remove(&m, &type, 0));
	assert_null(pmap_next(&m, true, &key));
	assert_null(pmap_next(&m, false, &key));
	assert_int_equal(pmap_bytes(&m, NULL), 0);
	pmap_drop(&m, &type);
}

static void keys_that_share_all_but_the_last_bits(void **state)
{
	struct pmap m = PMAP_INIT;
	uint64_t a = 5, b = 5 | (uint64_t)1 << 63, c = 5 | (uint64_t)1 << 62;

	pmap_put(&m, &type, a, number_new(1));
	pmap_put(&m, &type, b, number_new(2));
	pmap_put(&m, &type, c, number_new(3));
	assert_int_equal(value_at(&m, a), 1);
	assert_int_equal(value_at(&m, b), 2);
	assert_int_equal(value_at(&m, c), 3);
	assert_null(pmap_get(&m, 5 | (uint64_t)3 << 62));
	assert_true(pmap_remove(&m, &type, b));
	assert_true(pmap_remove(&m, &type, c));
	assert_int_equal(m.count, 1);
	assert_int_equal(pmap_bytes(&m, NULL), 24); /* the chain is gone with its reason */
	assert_int_equal(value_at(&m, a), 1);
	assert_true(pmap_remove(&m, &type, a));
	assert_null(m.root);
	assert_int_equal(live, 0);
}

static void put_replaces(void **state)
{
	struct pmap m = PMAP_INIT;

	pmap_put(&m, &type, 7, number_new(1));
	pmap_put(&m, &type, 7, number_new(2));
	assert_int_equal(m.count, 1);
	assert_int_equal(value_at(&m, 7), 2);
	assert_int_equal(live, 1);
	pmap_drop(&m, &type);
	assert_int_equal(live, 0);
}

static void edit_leaves_other_maps_alone(void **state)
{
	struct pmap a = PMAP_INIT, b;

	for (uint64_t key = 0; key < 40; key++)
		pmap_put(&a, &type, key, number_new(key));
	b = pmap_share(&a);
	assert_true(pmap_same(&a, &b));
	assert_int_equal(pmap_bytes(&a, NULL), 0);
	((struct number *)pmap_edit(&b, &type, 33))->value = 1000;
	assert_int_equal(value_at(&a, 33), 33);
	assert_int_equal(value_at(&b, 33), 1000);
	assert_int_equal(live, 41);
	assert_null(pmap_edit(&b, &type, 40));
	pmap_drop(&a, &type);
	assert_int_equal(value_at(&b, 33), 1000);
	assert_int_equal(value_at(&b, 32), 32);
	pmap_drop(&b, &type);
	assert_int_equal(live, 0);
}

static void edit_in_place_where_nothing_is_shared(void **state)
{
	struct pmap m = PMAP_INIT;
	struct ref *object = number_new(1);

	pmap_put(&m, &type, 1, object);
	assert_ptr_equal(pmap_edit(&m, &type, 1), object);
	pmap_drop(&m, &type);
}

static void iteration_follows_the_order(void **state)
{
	struct pmap m = PMAP_INIT;
	struct rng rng;
	uint64_t key = 0, before = 0;
	size_t seen = 0;
	bool first = true;

	rng_seed(&rng, 1);
	for (int i = 0; i < 1000; i++)
		pmap_put(&m, &type, rng_u64(&rng) >> rng_below(&rng, 64), number_new(1));
	while (pmap_next(&m, first, &key)) {
		assert_true(first || pmap_order(key) > before);
		before = pmap_order(key);
		assert_int_equal(pmap_unorder(before), key);
		first = false;
		seen++;
	}
	assert_int_equal(seen, m.count);
	pmap_drop(&m, &type);
}

static void walks_and_iteration_agree(void **state)
{
	struct pmap m = PMAP_INIT;
	struct pmap_walk walk;
	uint64_t key = 0, met;
	struct rng rng;
	bool first = true;
	struct ref *object;

	pmap_walk(&walk, &m);
	assert_null(pmap_walk_next(&walk, &met));
	rng_seed(&rng, 2);
	for (int i = 0; i < 1000; i++)
		pmap_put(&m, &type, rng_u64(&rng) >> rng_below(&rng, 64), number_new(1));
	/* As deep as it gets. */
	pmap_put(&m, &type, 5, number_new(1));
	pmap_put(&m, &type, 5 | (uint64_t)1 << 63, number_new(1));
	pmap_walk(&walk, &m);
	for (; (object = pmap_next(&m, first, &key)); first = false) {
		assert_ptr_equal(pmap_walk_next(&walk, &met), object);
		assert_int_equal(met, key);
	}
	assert_null(pmap_walk_next(&walk, &met));
	pmap_drop(&m, &type);
}

static void iteration_goes_on_from_keys_that_are_gone(void **state)
{
	struct pmap m = PMAP_INIT;
	uint64_t key = 0;
	size_t seen = 0;
	bool first = true;

	for (uint64_t i = 0; i < 300; i++)
		pmap_put(&m, &type, i * 17, number_new(i));
	while (pmap_next(&m, first, &key)) {
		assert_true(pmap_remove(&m, &type, key));
		first = false;
		seen++;
	}
	assert_int_equal(seen, 300);
	assert_int_equal(m.count, 0);
	assert_int_equal(live, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_map_has_nothing),
		cmocka_unit_test(keys_that_share_all_but_the_last_bits),
		cmocka_unit_test(put_replaces),
		cmocka_unit_test(edit_leaves_other_maps_alone),
		cmocka_unit_test(edit_in_place_where_nothing_is_shared),
		cmocka_unit_test(iteration_follows_the_order),
		cmocka_unit_test(walks_and_iteration_agree),
		cmocka_unit_test(iteration_goes_on_from_keys_that_are_gone),
	};

	return cmocka_run_group_tests_name("pmap", tests, NULL, NULL);
}
