/* test_symbolic_expr.c -- expressions mean what they were made from, however they are simplified.
 */
#include <string.h>

#include "base/rng.h"
#include "symbolic/expr.h"
#include "symbolic/expr_hashes.h"
#include "symbolic/interval.h"
#include "tests/harness/unit.h"

enum {
	EXPRS = 1 << 14,
	BUCKETS = 2 * EXPRS,
	INPUTS = 4,
	MADE = 60, /* expressions of one round */
	ROUNDS = 400,
	VALUATIONS = 8,
};

static struct expr exprs[EXPRS];
static uint32_t buckets[BUCKETS];

static void store_begin(struct expr_store *s)
{
	memset(buckets, 0, sizeof(buckets));
	expr_store_init(s, exprs, EXPRS, buckets, BUCKETS);
}

/* An expression, and its values for some inputs, worked out without the store. */
struct made {
	uint32_t e;
	unsigned width;
	uint64_t values[VALUATIONS];
};

static uint64_t mask(unsigned width)
{
	return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static int64_t extended(uint64_t value, unsigned width)
{
	return value >> (width - 1) & 1 ? (int64_t)(value | ~mask(width)) : (int64_t)value;
}

static uint64_t meaning(enum expr_op op, uint64_t a, uint64_t b, unsigned width)
{
	int64_t x = extended(a, width), y = extended(b, width);

	switch (op) {
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_MUL:
		return a * b;
	case EXPR_MUL_HIGH_U:
		return (uint64_t)(((unsigned __int128)a * b) >> width);
	case EXPR_MUL_HIGH_S:
		return (uint64_t)(((__int128)x * y) >> width);
	case EXPR_UDIV:
		return b ? a / b : UINT64_MAX;
	case EXPR_UREM:
		return b ? a % b : a;
	case EXPR_SDIV:
		return y == 0 ? (x < 0 ? 1 : UINT64_MAX) : (uint64_t)((__int128)x / y);
	case EXPR_SREM:
		return y == 0 ? a : (uint64_t)((__int128)x % y);
	case EXPR_AND:
		return a & b;
	case EXPR_OR:
		return a | b;
	case EXPR_XOR:
		return a ^ b;
	case EXPR_SHL:
		return b < width ? a << b : 0;
	case EXPR_LSHR:
		return b < width ? a >> b : 0;
	case EXPR_ASHR:
		return (uint64_t)(x >> (b < width ? b : width - 1));
	case EXPR_EQ:
		return a == b;
	case EXPR_ULT:
		return a < b;
	case EXPR_ULE:
		return a <= b;
	case EXPR_SLT:
		return x < y;
	case EXPR_SLE:
		return x <= y;
	default:
		fail_msg("no operation %d", op);
		return 0;
	}
}

static struct made make_const(struct expr_store *s, struct rng *rng)
{
	static const unsigned widths[] = { 1, 8, 16, 32, 64 };
	struct made m = { .width = widths[rng_below(rng, 5)] };
	uint64_t value = rng_below(rng, 2) ? rng_below(rng, 300) : rng_u64(rng);

	if (!rng_below(rng, 4))
		value = UINT64_C(1) << rng_below(rng, 64);
	m.e = expr_const(s, m.width, value);
	for (int i = 0; i < VALUATIONS; i++)
		m.values[i] = value & mask(m.width);
	return m;
}

static struct made make_input(struct expr_store *s, struct rng *rng, uint8_t in[][INPUTS])
{
	struct made m = { .width = 8 };
	uint32_t number = (uint32_t)rng_below(rng, INPUTS);

	m.e = expr_input(s, number);
	for (int i = 0; i < VALUATIONS; i++)
		m.values[i] = in[i][number];
	return m;
}

/* The same value in another width. */
static struct made make_resized(struct expr_store *s, struct rng *rng, struct made a,
				unsigned width)
{
	struct made m = { .width = width };
	unsigned low = width < a.width ? (unsigned)rng_below(rng, a.width - width + 1) : 0;
	bool sign = rng_below(rng, 2);

	m.e = width <= a.width ? expr_extract(s, a.e, low, width)
	    : sign             ? expr_sext(s, a.e, width)
			       : expr_zext(s, a.e, width);
	for (int i = 0; i < VALUATIONS; i++) {
		uint64_t v = a.values[i];

		if (width > a.width && sign)
			v = (uint64_t)extended(v, a.width);
		m.values[i] = v >> low & mask(width);
	}
	return m;
}

static struct made make_binary(struct expr_store *s, struct rng *rng, struct made a, struct made b)
{
	enum expr_op op = EXPR_ADD + (int)rng_below(rng, EXPR_SLE - EXPR_ADD + 1);
	struct made m = { .width = op >= EXPR_EQ ? 1 : a.width };

	m.e = expr_binary(s, op, a.e, b.e);
	for (int i = 0; i < VALUATIONS; i++)
		m.values[i] = meaning(op, a.values[i], b.values[i], a.width) & mask(m.width);
	return m;
}

static struct made make_joined(struct expr_store *s, struct made a, struct made b)
{
	struct made m = { .width = a.width + b.width, .e = expr_concat(s, a.e, b.e) };

	for (int i = 0; i < VALUATIONS; i++)
		m.values[i] = a.values[i] << b.width | b.values[i];
	return m;
}

static struct made make_choice(struct expr_store *s, struct made c, struct made a, struct made b)
{
	struct made m = { .width = a.width, .e = expr_ite(s, c.e, a.e, b.e) };

	for (int i = 0; i < VALUATIONS; i++)
		m.values[i] = c.values[i] ? a.values[i] : b.values[i];
	return m;
}

/* Split into bytes and put together again: as memory does. */
static struct made make_stored(struct expr_store *s, struct made a)
{
	struct made m = a;

	m.e = expr_byte(s, a.e, 0);
	for (unsigned i = 1; i < a.width / 8; i++)
		m.e = expr_concat(s, expr_byte(s, a.e, i), m.e);
	return m;
}

static struct made make_any(struct expr_store *s, struct rng *rng, const struct made *from,
			    size_t count, uint8_t in[][INPUTS])
{
	static const unsigned widths[] = { 1, 3, 8, 16, 32, 64 };
	struct made a = from[rng_below(rng, count)], b = from[rng_below(rng, count)],
		    c = from[rng_below(rng, count)];

	switch (rng_below(rng, 8)) {
	case 0:
		return make_const(s, rng);
	case 1:
		return make_input(s, rng, in);
	case 2:
		return make_resized(s, rng, a, widths[rng_below(rng, 6)]);
	case 3:
		return a.width + b.width <= 64 ? make_joined(s, a, b) : a;
	case 4:
		return make_choice(s, make_resized(s, rng, c, 1), a,
				   make_resized(s, rng, b, a.width));
	case 5:
		return a.width % 8 ? a : make_stored(s, a);
	default:
		return make_binary(s, rng, a, make_resized(s, rng, b, a.width));
	}
}

static void check_made(struct expr_store *s, const struct made *made, size_t count,
		       uint8_t in[][INPUTS])
{
	static uint64_t values[EXPRS];
	static const struct interval_facts nothing;

	for (int v = 0; v < VALUATIONS; v++) {
		expr_evaluate(s->exprs, s->count, in[v], values);
		for (size_t i = 0; i < count; i++) {
			struct interval range = interval_of(s, &nothing, made[i].e);

			assert_int_equal(s->exprs[made[i].e].width, made[i].width);
			assert_true(values[made[i].e] == made[i].values[v]);
			assert_true(values[made[i].e] >= range.low);
			assert_true(values[made[i].e] <= range.high);
		}
	}
}

static void simplified_expressions_keep_their_values(void **state)
{
	struct rng rng;

	rng_seed(&rng, 1);
	for (int round = 0; round < ROUNDS; round++) {
		uint8_t in[VALUATIONS][INPUTS];
		struct made made[MADE];
		struct expr_store s;

		store_begin(&s);
		for (int i = 0; i < VALUATIONS * INPUTS; i++)
			in[i / INPUTS][i % INPUTS] =
				(uint8_t)(rng_below(&rng, 2) ? rng_u64(&rng) : rng_below(&rng, 3));
		made[0] = make_input(&s, &rng, in);
		for (int i = 1; i < MADE; i++)
			made[i] = make_any(&s, &rng, made, (size_t)i, in);
		assert_false(s.full);
		check_made(&s, made, MADE, in);
	}
}

/* What the conditions on a path say holds for every input that takes it. */
static void learned_intervals_hold(void **state)
{
	struct rng rng;

	rng_seed(&rng, 2);
	for (int round = 0; round < ROUNDS; round++) {
		static uint64_t values[EXPRS];
		struct interval_facts facts = { 0 };
		uint8_t in[VALUATIONS][INPUTS];
		struct made made[MADE];
		struct expr_store s;

		store_begin(&s);
		for (int i = 0; i < VALUATIONS * INPUTS; i++)
			in[i / INPUTS][i % INPUTS] = (uint8_t)rng_u64(&rng);
		made[0] = make_input(&s, &rng, in);
		for (int i = 1; i < MADE; i++)
			made[i] = make_any(&s, &rng, made, (size_t)i, in);
		expr_evaluate(s.exprs, s.count, in[0], values);
		for (int i = 0; i < MADE; i++) {
			bool holds, said;

			if (made[i].width != 1)
				continue;
			holds = values[made[i].e];
			if (interval_decides(&s, &facts, made[i].e, &said))
				assert_int_equal(said, holds);
			interval_learn(&s, &facts, made[i].e, holds);
		}
		for (int i = 0; i < MADE; i++) {
			struct interval range = interval_of(&s, &facts, made[i].e);

			assert_true(values[made[i].e] >= range.low);
			assert_true(values[made[i].e] <= range.high);
		}
	}
}

static void bytes_come_together_again(void **state)
{
	struct expr_store s;
	uint32_t word, sum, again;

	store_begin(&s);
	word = expr_concat(&s, expr_input(&s, 1), expr_input(&s, 0));
	sum = expr_binary(&s, EXPR_ADD, expr_zext(&s, word, 32), expr_const(&s, 32, 70000));
	again = expr_byte(&s, sum, 0);
	for (unsigned i = 1; i < 4; i++)
		again = expr_concat(&s, expr_byte(&s, sum, i), again);
	assert_int_equal(again, sum);
	/* Little endian by shifts is the same as a load. */
	again = expr_binary(&s, EXPR_OR, expr_zext(&s, expr_input(&s, 0), 16),
			    expr_binary(&s, EXPR_SHL, expr_zext(&s, expr_input(&s, 1), 16),
					expr_const(&s, 16, 8)));
	assert_int_equal(again, word);
}

/* Tests of one bit are one expression, however they are written. */
static void one_meaning_has_one_form(void **state)
{
	struct expr_store s;
	uint32_t word, bit, masked, shifted;

	store_begin(&s);
	word = expr_zext(&s, expr_concat(&s, expr_input(&s, 1), expr_input(&s, 0)), 64);
	bit = expr_extract(&s, word, 9, 1);
	masked = expr_not(&s, expr_binary(&s, EXPR_EQ,
					  expr_binary(&s, EXPR_AND, word, expr_const(&s, 64, 512)),
					  expr_const(&s, 64, 0)));
	shifted = expr_extract(&s, expr_binary(&s, EXPR_LSHR, word, expr_const(&s, 64, 9)), 0, 1);
	assert_int_equal(masked, bit);
	assert_int_equal(shifted, bit);
	assert_int_equal(expr_not(&s, expr_not(&s, bit)), bit);
	assert_int_equal(expr_binary(&s, EXPR_SLT, word, expr_const(&s, 64, 5)),
			 expr_binary(&s, EXPR_ULT, word, expr_const(&s, 64, 5)));
}

static void steps_of_addresses_are_known(void **state)
{
	struct expr_store s;
	uint32_t index, address;
	const struct interval_facts nothing = { 0 };

	store_begin(&s);
	index = expr_zext(&s, expr_input(&s, 0), 64);
	address =
		expr_binary(&s, EXPR_ADD, expr_binary(&s, EXPR_MUL, index, expr_const(&s, 64, 24)),
			    expr_const(&s, 64, 0x5001));
	assert_int_equal(interval_step_log2(&s, address), 3);
	assert_int_equal(interval_of(&s, &nothing, address).low, 0x5001);
	assert_int_equal(interval_of(&s, &nothing, address).high, 0x5001 + 24 * 255);
}

static void a_full_store_says_so(void **state)
{
	struct expr_store s;
	uint32_t e, last = 1;

	memset(buckets, 0, sizeof(buckets));
	expr_store_init(&s, exprs, 64, buckets, 128);
	e = expr_zext(&s, expr_input(&s, 0), 32);
	for (uint32_t i = 3; i < 100 && last; i++)
		last = expr_binary(&s, EXPR_MUL, e, expr_const(&s, 32, 2 * i + 1));
	assert_int_equal(last, 0);
	assert_true(s.full);
	assert_int_equal(expr_binary(&s, EXPR_ADD, 0, e), 0);
	assert_int_equal(expr_concat(&s, e, 0), 0);
}

static void vectors_come_apart(void **state)
{
	struct expr_store s;
	uint32_t low, vector, other, equal;

	store_begin(&s);
	low = expr_zext(&s, expr_input(&s, 0), 64);
	vector = expr_concat(&s, expr_const(&s, 64, 7), low);
	assert_int_equal(s.exprs[vector].width, 128);
	assert_int_equal(expr_extract(&s, vector, 0, 8), expr_input(&s, 0));
	assert_int_equal(expr_extract(&s, vector, 64, 64), expr_const(&s, 64, 7));
	assert_false(expr_is_fixed(&s, vector));
	assert_true(expr_is_fixed(&s, expr_const(&s, 256, 9)));
	other = expr_not(&s, expr_not(&s, vector));
	assert_int_equal(other, vector);
	equal = expr_binary(&s, EXPR_EQ, vector, expr_const(&s, 128, 3));
	assert_int_equal(equal, expr_const(&s, 1, 0));
	assert_int_equal(expr_extract(&s, expr_sext(&s, low, 256), 192, 64), expr_const(&s, 64, 0));
}

/* In whatever order a run made them. */
static void hashes_are_by_structure(void **state)
{
	struct expr_store s;
	uint32_t e;
	uint64_t first[64], second[64], hash;

	store_begin(&s);
	e = expr_binary(&s, EXPR_ADD, expr_input(&s, 0), expr_input(&s, 1));
	expr_hashes(s.exprs, s.count, first);
	hash = first[e];
	store_begin(&s);
	expr_const(&s, 32, 5);
	expr_input(&s, 1);
	e = expr_binary(&s, EXPR_ADD, expr_input(&s, 0), expr_input(&s, 1));
	expr_hashes(s.exprs, s.count, second);
	assert_true(second[e] == hash);
	e = expr_binary(&s, EXPR_SUB, expr_input(&s, 0), expr_input(&s, 1));
	expr_hashes(s.exprs, s.count, second);
	assert_true(second[e] != hash);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simplified_expressions_keep_their_values),
		cmocka_unit_test(learned_intervals_hold),
		cmocka_unit_test(bytes_come_together_again),
		cmocka_unit_test(one_meaning_has_one_form),
		cmocka_unit_test(steps_of_addresses_are_known),
		cmocka_unit_test(a_full_store_says_so),
		cmocka_unit_test(vectors_come_apart),
		cmocka_unit_test(hashes_are_by_structure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
