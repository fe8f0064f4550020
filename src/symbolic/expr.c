/* expr.c -- making expressions, simplified on the way.
 *
 * The simplifications aim at one form for each meaning, since a path is known by the hashes of its
 * conditions: bits are taken out and put together by EXPR_EXTRACT and EXPR_CONCAT alone, which
 * nests to the right, and a constant is the right operand. */
#include "symbolic/expr.h"

enum {
	MASK_RUNS_MAX = 4, /* a mask with more runs of bits stays an EXPR_AND */
	BUCKETS_FIRST = 4096,
};

void expr_store_init(struct expr_store *s, struct expr *exprs, uint32_t max, uint32_t *buckets,
		     uint32_t bucket_max)
{
	*s = (struct expr_store){ exprs,
				  1,
				  max,
				  buckets,
				  bucket_max < BUCKETS_FIRST ? bucket_max : BUCKETS_FIRST,
				  bucket_max,
				  false };
	exprs[0] = (struct expr){ 0 };
}

static uint32_t expr_hash(const struct expr *e)
{
	uint64_t h = ((uint64_t)e->op << 16 | e->width) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ e->args[0]) * UINT64_C(0xff51afd7ed558ccd);
	h = (h ^ (h >> 29) ^ e->args[1]) * UINT64_C(0xc4ceb9fe1a85ec53);
	h = (h ^ (h >> 31) ^ e->args[2] ^ e->value) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

static bool expr_same(const struct expr *a, const struct expr *b)
{
	return a->op == b->op && a->width == b->width && a->args[0] == b->args[0] &&
	       a->args[1] == b->args[1] && a->args[2] == b->args[2] && a->value == b->value;
}

static void expr_grow_buckets(struct expr_store *s)
{
	for (uint32_t i = 0; i < s->bucket_count; i++)
		s->buckets[i] = 0;
	s->bucket_count *= 2;
	for (uint32_t i = 1; i < s->count; i++) {
		uint32_t at = expr_hash(&s->exprs[i]) & (s->bucket_count - 1);

		while (s->buckets[at])
			at = (at + 1) & (s->bucket_count - 1);
		s->buckets[at] = i;
	}
}

/* The number of this one, new or not, as it is. */
static uint32_t expr_intern(struct expr_store *s, struct expr e)
{
	uint32_t at = expr_hash(&e) & (s->bucket_count - 1);

	for (; s->buckets[at]; at = (at + 1) & (s->bucket_count - 1)) {
		if (expr_same(&s->exprs[s->buckets[at]], &e))
			return s->buckets[at];
	}
	if (s->count >= s->max) {
		s->full = true;
		return 0;
	}
	s->exprs[s->count] = e;
	s->buckets[at] = s->count++;
	if (s->count > s->bucket_count / 2 && s->bucket_count < s->bucket_max)
		expr_grow_buckets(s);
	return s->count - 1;
}

static unsigned width_of(const struct expr_store *s, uint32_t e)
{
	return s->exprs[e].width;
}

static enum expr_op op_of(const struct expr_store *s, uint32_t e)
{
	return s->exprs[e].op;
}

static bool is_value(const struct expr_store *s, uint32_t e, uint64_t value)
{
	return expr_is_const(s, e) && s->exprs[e].value == value;
}

static bool is_ones(const struct expr_store *s, uint32_t e)
{
	return is_value(s, e, expr_mask(width_of(s, e)));
}

bool expr_is_fixed(const struct expr_store *s, uint32_t e)
{
	for (; op_of(s, e) == EXPR_CONCAT; e = s->exprs[e].args[1]) {
		if (!expr_is_const(s, s->exprs[e].args[0]))
			return false;
	}
	return expr_is_const(s, e);
}

uint32_t expr_without_zeros(const struct expr_store *s, uint32_t e)
{
	while (op_of(s, e) == EXPR_CONCAT && is_value(s, s->exprs[e].args[0], 0))
		e = s->exprs[e].args[1];
	return e;
}

uint32_t expr_input(struct expr_store *s, uint32_t number)
{
	return expr_intern(s, (struct expr){ EXPR_INPUT, 8, { 0 }, number });
}

uint32_t expr_const(struct expr_store *s, unsigned width, uint64_t value)
{
	if (width > 64)
		return expr_concat(s, expr_const(s, width - 64, 0), expr_const(s, 64, value));
	return expr_intern(s, (struct expr){ EXPR_CONST, width, { 0 }, value & expr_mask(width) });
}

/* Nothing is simplified, so that pieces of one expression come together again. */
static uint32_t extract_raw(struct expr_store *s, uint32_t a, unsigned low, unsigned width)
{
	if (low == 0 && width == width_of(s, a))
		return a;
	return expr_intern(s, (struct expr){ EXPR_EXTRACT, width, { a }, low });
}

/* The same bits next to each other: two constants, or two pieces of one expression. */
static uint32_t concat_merged(struct expr_store *s, uint32_t high, uint32_t low)
{
	const struct expr h = s->exprs[high], l = s->exprs[low];

	if (h.width + l.width > 64)
		return 0;
	if (h.op == EXPR_CONST && l.op == EXPR_CONST)
		return expr_const(s, h.width + l.width, h.value << l.width | l.value);
	if (h.op == EXPR_EXTRACT && l.op == EXPR_EXTRACT && h.args[0] == l.args[0] &&
	    h.value == l.value + l.width)
		return extract_raw(s, h.args[0], (unsigned)l.value, h.width + l.width);
	return 0;
}

uint32_t expr_concat(struct expr_store *s, uint32_t high, uint32_t low)
{
	uint32_t merged;

	if (!high || !low)
		return 0;
	if (op_of(s, high) == EXPR_CONCAT) {
		low = expr_concat(s, s->exprs[high].args[1], low);
		return expr_concat(s, s->exprs[high].args[0], low);
	}
	if (op_of(s, low) == EXPR_CONCAT) {
		merged = concat_merged(s, high, s->exprs[low].args[0]);
		if (merged)
			return expr_concat(s, merged, s->exprs[low].args[1]);
	} else {
		merged = concat_merged(s, high, low);
		if (merged)
			return merged;
	}
	return expr_intern(
		s, (struct expr){
			   EXPR_CONCAT, width_of(s, high) + width_of(s, low), { high, low }, 0 });
}

uint32_t expr_zext(struct expr_store *s, uint32_t a, unsigned width)
{
	unsigned old = width_of(s, a);

	if (!a || old == width)
		return a;
	return expr_concat(s, expr_const(s, width - old, 0), a);
}

uint32_t expr_sext(struct expr_store *s, uint32_t a, unsigned width)
{
	const struct expr e = s->exprs[a];

	if (!a || e.width == width)
		return a;
	if (width > 64) {
		uint32_t sign = expr_sext(s, expr_extract(s, a, e.width - 1, 1),
					  (width - e.width - 1) % 64 + 1);

		return expr_sext(s, expr_concat(s, sign, a), width);
	}
	if (e.op == EXPR_CONST)
		return expr_const(s, width, (uint64_t)expr_signed(e.value, e.width));
	if (e.op == EXPR_CONCAT && is_value(s, e.args[0], 0))
		return expr_zext(s, a, width);
	if (e.op == EXPR_SEXT)
		a = e.args[0];
	return expr_intern(s, (struct expr){ EXPR_SEXT, width, { a }, 0 });
}

static uint32_t ite_wide(struct expr_store *s, uint32_t condition, uint32_t a, uint32_t b)
{
	unsigned width = width_of(s, a), low = width - 64;

	return expr_concat(
		s, expr_ite(s, condition, expr_extract(s, a, 64, low), expr_extract(s, b, 64, low)),
		expr_ite(s, condition, expr_extract(s, a, 0, 64), expr_extract(s, b, 0, 64)));
}

uint32_t expr_ite(struct expr_store *s, uint32_t condition, uint32_t a, uint32_t b)
{
	const struct expr c = s->exprs[condition];

	if (!condition || !a || !b)
		return 0;
	if (a == b)
		return a;
	if (c.op == EXPR_CONST)
		return c.value ? a : b;
	if (c.op == EXPR_XOR && is_value(s, c.args[1], 1))
		return expr_ite(s, c.args[0], b, a);
	if (width_of(s, a) > 64)
		return ite_wide(s, condition, a, b);
	if (width_of(s, a) == 1 && expr_is_const(s, a) && expr_is_const(s, b))
		return s->exprs[a].value ? condition : expr_not(s, condition);
	return expr_intern(s, (struct expr){ EXPR_ITE, width_of(s, a), { condition, a, b }, 0 });
}

static uint32_t extract_concat(struct expr_store *s, const struct expr *e, unsigned low,
			       unsigned width)
{
	uint32_t high_part = e->args[0], low_part = e->args[1];
	unsigned border = width_of(s, low_part);

	if (low + width <= border)
		return expr_extract(s, low_part, low, width);
	if (low >= border)
		return expr_extract(s, high_part, low - border, width);
	return expr_concat(s, expr_extract(s, high_part, 0, low + width - border),
			   expr_extract(s, low_part, low, border - low));
}

static uint32_t extract_sext(struct expr_store *s, uint32_t inner, unsigned low, unsigned width)
{
	unsigned border = width_of(s, inner);

	if (low + width <= border)
		return expr_extract(s, inner, low, width);
	if (low >= border)
		low = border - 1;
	return expr_sext(s, expr_extract(s, inner, low, border - low), width);
}

/* Whether bits can be taken out of it without a new operation on top. */
static bool comes_apart(const struct expr_store *s, uint32_t e)
{
	enum expr_op op = op_of(s, e);

	return op == EXPR_CONST || op == EXPR_CONCAT || op == EXPR_SEXT || op == EXPR_INPUT;
}

uint32_t expr_extract(struct expr_store *s, uint32_t a, unsigned low, unsigned width)
{
	const struct expr e = s->exprs[a];

	if (!a || (low == 0 && width == e.width))
		return a;
	switch ((enum expr_op)e.op) {
	case EXPR_CONST:
		return expr_const(s, width, e.value >> low);
	case EXPR_EXTRACT:
		return expr_extract(s, e.args[0], low + e.value, width);
	case EXPR_CONCAT:
		return extract_concat(s, &e, low, width);
	case EXPR_SEXT:
		return extract_sext(s, e.args[0], low, width);
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_XOR:
		if (!expr_is_const(s, e.args[1]))
			break;
		return expr_binary(s, e.op, expr_extract(s, e.args[0], low, width),
				   expr_extract(s, e.args[1], low, width));
	case EXPR_ADD:
	case EXPR_SUB:
	case EXPR_MUL:
		if (low || !comes_apart(s, e.args[0]) || !comes_apart(s, e.args[1]))
			break;
		return expr_binary(s, e.op, expr_extract(s, e.args[0], 0, width),
				   expr_extract(s, e.args[1], 0, width));
	case EXPR_ITE:
		if (!expr_is_const(s, e.args[1]) || !expr_is_const(s, e.args[2]))
			break;
		return expr_ite(s, e.args[0], expr_extract(s, e.args[1], low, width),
				expr_extract(s, e.args[2], low, width));
	default:
		break;
	}
	return extract_raw(s, a, low, width);
}

uint32_t expr_byte(struct expr_store *s, uint32_t a, unsigned i)
{
	const struct expr e = s->exprs[a];

	if (!a || e.width == 8)
		return a;
	if (e.op == EXPR_CONST || e.op == EXPR_CONCAT || e.op == EXPR_EXTRACT)
		return expr_extract(s, a, 8 * i, 8);
	return extract_raw(s, a, 8 * i, 8);
}

uint32_t expr_not(struct expr_store *s, uint32_t a)
{
	unsigned width = width_of(s, a);

	if (!a)
		return 0;
	if (width <= 64)
		return expr_binary(s, EXPR_XOR, a, expr_const(s, width, UINT64_MAX));
	return expr_concat(s, expr_not(s, expr_extract(s, a, 64, width - 64)),
			   expr_not(s, expr_extract(s, a, 0, 64)));
}

/* --- AND, OR, XOR --- */

static unsigned runs_of(uint64_t mask, unsigned width)
{
	uint64_t borders = (mask ^ (mask >> 1)) & expr_mask(width - 1);

	return 1 + (unsigned)__builtin_popcountll(borders);
}

/* How many bits from the lowest on both operands can be joined by themselves; 0: no border helps.
 */
static unsigned bitwise_border(const struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	const struct expr *x = &s->exprs[a], *y = &s->exprs[b];
	unsigned border = 0;

	if (y->op == EXPR_CONST && op != EXPR_XOR && runs_of(y->value, y->width) > 1 &&
	    runs_of(y->value, y->width) <= MASK_RUNS_MAX) {
		uint64_t run = y->value & 1 ? ~y->value : y->value;

		return (unsigned)__builtin_ctzll(run);
	}
	if (x->op == EXPR_CONCAT)
		border = width_of(s, x->args[1]);
	if (y->op == EXPR_CONCAT && (!border || width_of(s, y->args[1]) < border))
		border = width_of(s, y->args[1]);
	return border;
}

static uint32_t bitwise_split(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b,
			      unsigned border)
{
	unsigned above = width_of(s, a) - border;

	return expr_concat(s,
			   expr_binary(s, op, expr_extract(s, a, border, above),
				       expr_extract(s, b, border, above)),
			   expr_binary(s, op, expr_extract(s, a, 0, border),
				       expr_extract(s, b, 0, border)));
}

/* 0: nothing to simplify. The constant is b. */
static uint32_t bitwise_simple(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	const struct expr x = s->exprs[a], y = s->exprs[b];
	unsigned border;

	if (a == b)
		return op == EXPR_XOR ? expr_const(s, x.width, 0) : a;
	if (is_value(s, b, 0))
		return op == EXPR_AND ? b : a;
	if (is_ones(s, b) && op != EXPR_XOR)
		return op == EXPR_AND ? a : b;
	if (x.op == op && y.op == EXPR_CONST && expr_is_const(s, x.args[1]))
		return expr_binary(s, op, x.args[0], expr_binary(s, op, x.args[1], b));
	border = bitwise_border(s, op, a, b);
	return border ? bitwise_split(s, op, a, b, border) : 0;
}

/* --- arithmetic --- */

static uint32_t shift_simple(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	unsigned width = width_of(s, a), by;

	if (is_value(s, a, 0))
		return a;
	if (!expr_is_const(s, b))
		return 0;
	if (s->exprs[b].value >= width) {
		if (op != EXPR_ASHR)
			return expr_const(s, width, 0);
		return expr_sext(s, expr_extract(s, a, width - 1, 1), width);
	}
	by = (unsigned)s->exprs[b].value;
	if (!by)
		return a;
	if (op == EXPR_SHL)
		return expr_concat(s, expr_extract(s, a, 0, width - by), expr_const(s, by, 0));
	a = expr_extract(s, a, by, width - by);
	return op == EXPR_LSHR ? expr_zext(s, a, width) : expr_sext(s, a, width);
}

static uint32_t sum_simple(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	const struct expr x = s->exprs[a], y = s->exprs[b];

	if (is_value(s, b, 0))
		return a;
	if (op == EXPR_SUB && a == b)
		return expr_const(s, x.width, 0);
	if (y.op != EXPR_CONST)
		return 0;
	if (op == EXPR_SUB)
		return expr_binary(s, EXPR_ADD, a, expr_const(s, y.width, -y.value));
	if (x.op == EXPR_ADD && expr_is_const(s, x.args[1]))
		return expr_binary(s, EXPR_ADD, x.args[0], expr_binary(s, op, x.args[1], b));
	return 0;
}

static uint32_t product_simple(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	const struct expr y = s->exprs[b];
	uint32_t shift;

	if (y.op != EXPR_CONST || __builtin_popcountll(y.value) > 1)
		return 0;
	if (!y.value)
		return op == EXPR_MUL ? b : 0;
	shift = expr_const(s, y.width, (uint64_t)__builtin_ctzll(y.value));
	switch (op) {
	case EXPR_MUL:
		return expr_binary(s, EXPR_SHL, a, shift);
	case EXPR_UDIV:
		return expr_binary(s, EXPR_LSHR, a, shift);
	case EXPR_UREM:
		return expr_binary(s, EXPR_AND, a, expr_const(s, y.width, y.value - 1));
	default:
		return 0;
	}
}

/* --- comparisons --- */

static uint32_t equal_const(struct expr_store *s, uint32_t a, uint32_t b)
{
	const struct expr x = s->exprs[a];
	uint64_t value = s->exprs[b].value;

	if (x.width == 1)
		return value ? a : expr_not(s, a);
	switch ((enum expr_op)x.op) {
	case EXPR_SUB:
		return value ? 0 : expr_binary(s, EXPR_EQ, x.args[0], x.args[1]);
	case EXPR_ADD:
		if (!expr_is_const(s, x.args[1]))
			return 0;
		value -= s->exprs[x.args[1]].value;
		return expr_binary(s, EXPR_EQ, x.args[0], expr_const(s, x.width, value));
	case EXPR_XOR:
		if (!expr_is_const(s, x.args[1]))
			return value ? 0 : expr_binary(s, EXPR_EQ, x.args[0], x.args[1]);
		value ^= s->exprs[x.args[1]].value;
		return expr_binary(s, EXPR_EQ, x.args[0], expr_const(s, x.width, value));
	case EXPR_ITE:
		if (!expr_is_const(s, x.args[1]) || !expr_is_const(s, x.args[2]))
			return 0;
		return expr_ite(s, x.args[0], expr_binary(s, EXPR_EQ, x.args[1], b),
				expr_binary(s, EXPR_EQ, x.args[2], b));
	case EXPR_SEXT: {
		unsigned inner = width_of(s, x.args[0]);

		if ((uint64_t)expr_signed(value & expr_mask(inner), inner) !=
		    (uint64_t)expr_signed(value, x.width))
			return expr_const(s, 1, 0);
		return expr_binary(s, EXPR_EQ, x.args[0], expr_const(s, inner, value));
	}
	default:
		return 0;
	}
}

/* Where one piece of a concatenation is constant on both sides, only the others count. */
static uint32_t equal_pieces(struct expr_store *s, uint32_t a, uint32_t b)
{
	const struct expr x = s->exprs[a];
	unsigned border;
	uint32_t high, low;

	if (x.op != EXPR_CONCAT)
		return 0;
	border = width_of(s, x.args[1]);
	high = expr_extract(s, b, border, x.width - border);
	low = expr_extract(s, b, 0, border);
	if (expr_is_const(s, x.args[0]) && expr_is_const(s, high)) {
		if (s->exprs[x.args[0]].value != s->exprs[high].value)
			return expr_const(s, 1, 0);
		return expr_binary(s, EXPR_EQ, x.args[1], low);
	}
	if (expr_is_const(s, x.args[1]) && expr_is_const(s, low)) {
		if (s->exprs[x.args[1]].value != s->exprs[low].value)
			return expr_const(s, 1, 0);
		return expr_binary(s, EXPR_EQ, x.args[0], high);
	}
	return 0;
}

static uint32_t equal_simple(struct expr_store *s, uint32_t a, uint32_t b)
{
	uint32_t r;

	if (a == b)
		return expr_const(s, 1, 1);
	r = equal_pieces(s, a, b);
	if (!r && !expr_is_const(s, b))
		r = equal_pieces(s, b, a);
	if (!r && expr_is_const(s, b))
		r = equal_const(s, a, b);
	return r;
}

/* Zeros above both operands do not count. */
static uint32_t order_narrowed(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	unsigned width = width_of(s, a), wa = width_of(s, expr_without_zeros(s, a)),
		 wb = width_of(s, expr_without_zeros(s, b)), inner;

	if (expr_is_const(s, a))
		wa = s->exprs[a].value ? 64 - (unsigned)__builtin_clzll(s->exprs[a].value) : 1;
	if (expr_is_const(s, b))
		wb = s->exprs[b].value ? 64 - (unsigned)__builtin_clzll(s->exprs[b].value) : 1;
	inner = wa > wb ? wa : wb;
	if (inner >= width)
		return 0;
	op = op == EXPR_SLT ? EXPR_ULT : op == EXPR_SLE ? EXPR_ULE : op;
	return expr_binary(s, op, expr_extract(s, a, 0, inner), expr_extract(s, b, 0, inner));
}

static uint32_t order_simple(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	if (a == b)
		return expr_const(s, 1, op == EXPR_ULE || op == EXPR_SLE);
	if (op == EXPR_ULT && is_value(s, b, 0))
		return expr_const(s, 1, 0);
	if (op == EXPR_ULE && (is_value(s, a, 0) || is_ones(s, b)))
		return expr_const(s, 1, 1);
	if ((op == EXPR_ULT && is_value(s, b, 1)) || (op == EXPR_ULE && is_value(s, b, 0)))
		return expr_binary(s, EXPR_EQ, a, expr_const(s, width_of(s, a), 0));
	if (op == EXPR_SLT && is_value(s, b, 0))
		return expr_extract(s, a, width_of(s, a) - 1, 1);
	return order_narrowed(s, op, a, b);
}

static uint32_t binary_simple(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	switch (op) {
	case EXPR_ADD:
	case EXPR_SUB:
		return sum_simple(s, op, a, b);
	case EXPR_MUL:
	case EXPR_UDIV:
	case EXPR_UREM:
		return product_simple(s, op, a, b);
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_XOR:
		return bitwise_simple(s, op, a, b);
	case EXPR_SHL:
	case EXPR_LSHR:
	case EXPR_ASHR:
		return shift_simple(s, op, a, b);
	case EXPR_EQ:
		return equal_simple(s, a, b);
	case EXPR_ULT:
	case EXPR_ULE:
	case EXPR_SLT:
	case EXPR_SLE:
		return order_simple(s, op, a, b);
	default:
		return 0;
	}
}

static bool commutes(enum expr_op op)
{
	return op == EXPR_ADD || op == EXPR_MUL || op == EXPR_AND || op == EXPR_OR ||
	       op == EXPR_XOR || op == EXPR_EQ;
}

static bool compares(enum expr_op op)
{
	return op >= EXPR_EQ && op <= EXPR_SLE;
}

/* Wide ones, bit by bit or as a whole, 64 bits at a time. */
static uint32_t binary_wide(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	unsigned above = width_of(s, a) - 64;
	uint32_t high = expr_binary(s, op, expr_extract(s, a, 64, above),
				    expr_extract(s, b, 64, above)),
		 low = expr_binary(s, op, expr_extract(s, a, 0, 64), expr_extract(s, b, 0, 64));

	if (op == EXPR_EQ)
		return expr_binary(s, EXPR_AND, high, low);
	if (op == EXPR_AND || op == EXPR_OR || op == EXPR_XOR)
		return expr_concat(s, high, low);
	return 0;
}

uint32_t expr_binary(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b)
{
	struct expr e = { op, compares(op) ? 1 : width_of(s, a), { a, b }, 0 };
	uint32_t simple;

	if (!a || !b || width_of(s, a) != width_of(s, b))
		return 0;
	if (width_of(s, a) > 64)
		return binary_wide(s, op, a, b);
	if (expr_is_const(s, a) && expr_is_const(s, b)) {
		const uint64_t args[3] = { s->exprs[a].value, s->exprs[b].value };

		return expr_const(s, e.width, expr_apply(&e, s->exprs, args));
	}
	if (commutes(op) && (expr_is_const(s, a) || (!expr_is_const(s, b) && a > b))) {
		e.args[0] = b;
		e.args[1] = a;
	}
	simple = binary_simple(s, op, e.args[0], e.args[1]);
	if (simple || s->full)
		return simple;
	return expr_intern(s, e);
}
