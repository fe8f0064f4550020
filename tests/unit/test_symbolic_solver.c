/* test_symbolic_solver.c -- inputs for conditions: found, proved absent, or given up. */
#include <string.h>

#include "base/rng.h"
#include "symbolic/expr_hashes.h"
#include "symbolic/solver.h"
#include "tests/harness/unit.h"

enum { EXPRS = 1 << 12, BUCKETS = 2 * EXPRS, INPUTS = 4 };

struct fixture {
	struct expr_store store;
	struct expr exprs[EXPRS];
	uint32_t buckets[BUCKETS];
	uint64_t hashes[EXPRS], values[EXPRS];
	uint32_t word; /* of 32 bits */
};

static struct fixture f;

static int begin(void **state)
{
	memset(&f, 0, sizeof(f));
	expr_store_init(&f.store, f.exprs, EXPRS, f.buckets, BUCKETS);
	f.word = expr_input(&f.store, 0);
	for (uint32_t i = 1; i < INPUTS; i++)
		f.word = expr_concat(&f.store, expr_input(&f.store, i), f.word);
	return 0;
}

static uint32_t number(uint64_t value)
{
	return expr_const(&f.store, 32, value);
}

static uint32_t binary(enum expr_op op, uint32_t a, uint32_t b)
{
	return expr_binary(&f.store, op, a, b);
}

static void use(struct solver *s)
{
	expr_hashes(f.exprs, f.store.count, f.hashes);
	solver_use(s, f.exprs, f.store.count, f.hashes);
}

static uint64_t value_of(uint32_t e, const uint8_t *inputs)
{
	expr_evaluate(f.exprs, f.store.count, inputs, f.values);
	return f.values[e];
}

static void answers_hold(void **state)
{
	struct solver *s = solver_open(INPUTS);
	uint32_t small = binary(EXPR_ULT, f.word, number(1000)),
		 seventh = binary(EXPR_EQ, binary(EXPR_UREM, f.word, number(7)), number(3)),
		 big = binary(EXPR_ULT, number(990), f.word);
	const struct solver_term terms[] = { { small, true, 1 },
					     { seventh, true, 1 },
					     { big, true, 1 } };
	uint8_t inputs[INPUTS];

	use(s);
	assert_int_equal(solver_ask(s, terms, 3, inputs), SOLVER_YES);
	assert_int_equal(value_of(f.word, inputs), 997);
	assert_int_equal(solver_ask_other(s, terms, 3, inputs), SOLVER_NO);
	assert_int_equal(solver_ask_other(s, terms, 2, inputs), SOLVER_YES);
	solver_close(s);
}

static void the_impossible_is_proved(void **state)
{
	struct solver *s = solver_open(INPUTS);
	uint32_t even = expr_extract(&f.store, f.word, 0, 1),
		 square = binary(EXPR_MUL, f.word, f.word),
		 odd_square = expr_extract(&f.store, square, 0, 1);
	const struct solver_term terms[] = { { even, true, 0 }, { odd_square, false, 0 } };
	uint8_t inputs[INPUTS];

	use(s);
	assert_int_equal(solver_ask(s, terms, 2, inputs), SOLVER_NO);
	/* Without one of them it is possible: assumptions do not stay. */
	assert_int_equal(solver_ask(s, terms, 1, inputs), SOLVER_YES);
	assert_int_equal(solver_ask(s, terms + 1, 1, inputs), SOLVER_YES);
	assert_int_equal(inputs[0] & 1, 1);
	assert_int_equal(solver_questions(s), 3);
	solver_close(s);
}

/* Every operation means for the solver what it means for us. */
static void operations_agree_with_evaluation(void **state)
{
	struct solver *s = solver_open(INPUTS);
	struct rng rng;

	rng_seed(&rng, 3);
	for (int op = EXPR_ADD; op <= EXPR_SLE; op++) {
		for (int i = 0; i < 6; i++) {
			uint8_t inputs[INPUTS], found[INPUTS];
			uint32_t half = expr_extract(&f.store, f.word, 0, 16),
				 other = expr_extract(&f.store, f.word, 16, 16), e;
			struct solver_term terms[2];

			for (int j = 0; j < INPUTS; j++)
				inputs[j] = (uint8_t)(i < 2 ? (j / 2 + i) % 2 ? 0xffu : 0
							    : rng_u64(&rng));
			e = expr_binary(&f.store, op, half, other);
			use(s);
			terms[0] = (struct solver_term){ f.word, true, value_of(f.word, inputs) };
			terms[1] = (struct solver_term){ e, true, value_of(e, inputs) };
			assert_int_equal(solver_ask(s, terms, 2, found), SOLVER_YES);
			assert_memory_equal(found, inputs, INPUTS);
			terms[1].equal = false;
			assert_int_equal(solver_ask(s, terms, 2, found), SOLVER_NO);
		}
	}
	solver_close(s);
}

static void hard_questions_end(void **state)
{
	struct solver *s = solver_open(INPUTS);
	uint32_t x = f.word, hash = number(0x9747b28c);
	struct solver_term term;
	uint8_t inputs[INPUTS] = { 0 }, found[INPUTS];

	for (int i = 0; i < 24; i++) {
		hash = binary(EXPR_MUL, binary(EXPR_XOR, hash, x), number(0x5bd1e995));
		hash = binary(EXPR_XOR, hash, binary(EXPR_LSHR, hash, number(13)));
		x = binary(EXPR_ADD, binary(EXPR_MUL, x, x), hash);
	}
	use(s);
	solver_limit(s, 20000);
	term = (struct solver_term){ hash, true, 12345 };
	assert_int_equal(solver_ask(s, &term, 1, found), SOLVER_UNKNOWN);
	/* One that is near is found all the same. */
	inputs[2] = 77;
	term.value = value_of(hash, inputs);
	inputs[2] = 0;
	assert_int_equal(solver_ask(s, &term, 1, found), SOLVER_UNKNOWN);
	assert_true(solver_try_bytes(s, &term, 1, inputs, found));
	assert_int_equal(value_of(hash, found), term.value);
	solver_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(answers_hold, begin),
		cmocka_unit_test_setup(the_impossible_is_proved, begin),
		cmocka_unit_test_setup(operations_agree_with_evaluation, begin),
		cmocka_unit_test_setup(hard_questions_end, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
