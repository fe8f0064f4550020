/* test_rng.c -- same seed, same numbers; bounds are kept and nothing in them is left out. */

#include "base/must.h"
#include "base/rng.h"
#include "tests/harness/unit.h"

/* From the authors' reference code: s = {1, 2, 3, 4}. */
static void it_is_xoshiro256pp(void **state)
{
	static const uint64_t expected[] = {
		41943041,
		58720359,
		3588806011781223,
		3591011842654386,
		9228616714210784205u,
		9973669472204895162u,
	};
	struct rng r = { { 1, 2, 3, 4 } };

	for (size_t i = 0; i < ARRAY_LEN(expected); i++)
		assert_true(rng_u64(&r) == expected[i]);
}

static void a_seed_repeats(void **state)
{
	struct rng a, b, other;
	bool differs = false;

	rng_seed(&a, 5);
	rng_seed(&b, 5);
	rng_seed(&other, 6);
	for (int i = 0; i < 1000; i++) {
		uint64_t value = rng_u64(&a);

		assert_true(value == rng_u64(&b));
		differs |= value != rng_u64(&other);
	}
	assert_true(differs);
}

static void below_is_below_and_reaches_all(void **state)
{
	unsigned counts[7] = { 0 };
	struct rng r;

	rng_seed(&r, 1);
	for (int i = 0; i < 70000; i++)
		counts[rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(counts[i], 9500, 10500);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(rng_below(&r, 1), 0);
		assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
		assert_true(rng_below(&r, (1ull << 63) + 1) <= 1ull << 63);
	}
}

static void chances(void **state)
{
	unsigned hits = 0;
	struct rng r;

	rng_seed(&r, 2);
	for (int i = 0; i < 40000; i++) {
		hits += rng_chance(&r, 1, 4);
		assert_false(rng_chance(&r, 0, 4));
		assert_true(rng_chance(&r, 4, 4));
	}
	assert_in_range(hits, 9500, 10500);
}

static void fresh_seeds_differ(void **state)
{
	assert_true(rng_fresh_seed() != rng_fresh_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_xoshiro256pp),
		cmocka_unit_test(a_seed_repeats),
		cmocka_unit_test(below_is_below_and_reaches_all),
		cmocka_unit_test(chances),
		cmocka_unit_test(fresh_seeds_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
