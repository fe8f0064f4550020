/* flags.c -- the flags of amd64, which VEX computes only where they are used.
 *
 * It keeps the operation (cc_op: a kind and a width) and its operands; the numbers are those of
 * VEX's amd64 guest. */
#include "pathtool/operations.h"

/* (cc_op - 1) / 4; the width is 8 << (cc_op - 1) % 4. */
enum flags_kind {
	FLAGS_ADD,
	FLAGS_SUB,
	FLAGS_ADC,
	FLAGS_SBB,
	FLAGS_LOGIC,
	FLAGS_INC,
	FLAGS_DEC,
	FLAGS_SHL,
	FLAGS_SHR,
	FLAGS_ROL,
	FLAGS_ROR,
	FLAGS_UMUL,
	FLAGS_SMUL,
};

/* A condition number / 2; an odd one is the opposite. */
enum flags_test {
	TEST_OVERFLOW,
	TEST_CARRY,
	TEST_ZERO,
	TEST_NOT_ABOVE,
	TEST_SIGN,
	TEST_PARITY,
	TEST_LESS,
	TEST_NOT_GREATER,
};

/* One bit each; 0: not modelled. */
struct flags {
	uint32_t carry, zero, sign, overflow;
};

static uint32_t binary(enum expr_op op, uint32_t a, uint32_t b)
{
	return expr_binary(&tool_store, op, a, b);
}

static uint32_t top_bit(uint32_t e, UInt width)
{
	return expr_extract(&tool_store, e, width - 1, 1);
}

static struct flags flags_sum(uint32_t a, uint32_t b, UInt width)
{
	uint32_t sum = binary(EXPR_ADD, a, b);

	return (struct flags){
		.carry = binary(EXPR_ULT, sum, a),
		.zero = binary(EXPR_EQ, sum, expr_const(&tool_store, width, 0)),
		.sign = top_bit(sum, width),
		.overflow =
			binary(EXPR_AND, binary(EXPR_XOR, top_bit(a, width), top_bit(sum, width)),
			       binary(EXPR_XOR, top_bit(b, width), top_bit(sum, width))),
	};
}

static struct flags flags_difference(uint32_t a, uint32_t b, UInt width)
{
	uint32_t difference = binary(EXPR_SUB, a, b);

	return (struct flags){
		.carry = binary(EXPR_ULT, a, b),
		.zero = binary(EXPR_EQ, a, b),
		.sign = top_bit(difference, width),
		.overflow = binary(EXPR_AND, binary(EXPR_XOR, top_bit(a, width), top_bit(b, width)),
				   binary(EXPR_XOR, top_bit(a, width), top_bit(difference, width))),
	};
}

/* Carry and overflow say that the upper half of the product is not what the lower half implies. */
static struct flags flags_product(uint32_t a, uint32_t b, UInt width, Bool is_signed)
{
	uint32_t low = binary(EXPR_MUL, a, b),
		 high = binary(is_signed ? EXPR_MUL_HIGH_S : EXPR_MUL_HIGH_U, a, b),
		 implied = is_signed ? expr_sext(&tool_store, top_bit(low, width), width)
				     : expr_const(&tool_store, width, 0),
		 lost = expr_not(&tool_store, binary(EXPR_EQ, high, implied));

	return (struct flags){
		.carry = lost,
		.zero = binary(EXPR_EQ, low, expr_const(&tool_store, width, 0)),
		.sign = top_bit(low, width),
		.overflow = lost,
	};
}

static struct flags flags_of(enum flags_kind kind, uint32_t a, uint32_t b, UInt width)
{
	uint32_t zero = expr_const(&tool_store, width, 0);
	struct flags f = { 0, binary(EXPR_EQ, a, zero), top_bit(a, width), 0 };

	switch (kind) {
	case FLAGS_ADD:
		return flags_sum(a, b, width);
	case FLAGS_SUB:
		return flags_difference(a, b, width);
	case FLAGS_LOGIC:
		f.carry = f.overflow = expr_const(&tool_store, 1, 0);
		return f;
	case FLAGS_INC:
		f.overflow =
			binary(EXPR_EQ, a, expr_const(&tool_store, width, 1ULL << (width - 1)));
		return f;
	case FLAGS_DEC:
		f.overflow = binary(EXPR_EQ, a,
				    expr_const(&tool_store, width, (1ULL << (width - 1)) - 1));
		return f;
	case FLAGS_SHL:
		f.carry = top_bit(b, width);
		f.overflow = binary(EXPR_XOR, top_bit(a, width), top_bit(b, width));
		return f;
	case FLAGS_SHR:
		f.carry = expr_extract(&tool_store, b, 0, 1);
		f.overflow = binary(EXPR_XOR, top_bit(a, width), top_bit(b, width));
		return f;
	case FLAGS_UMUL:
	case FLAGS_SMUL:
		return flags_product(a, b, width, kind == FLAGS_SMUL);
	default:
		return (struct flags){ 0 };
	}
}

/* After a comparison, in one operation. */
static uint32_t compared(enum flags_test test, uint32_t a, uint32_t b)
{
	switch (test) {
	case TEST_NOT_ABOVE:
		return binary(EXPR_ULE, a, b);
	case TEST_LESS:
		return binary(EXPR_SLT, a, b);
	case TEST_NOT_GREATER:
		return binary(EXPR_SLE, a, b);
	default:
		return 0;
	}
}

static uint32_t tested(enum flags_test test, const struct flags *f)
{
	switch (test) {
	case TEST_OVERFLOW:
		return f->overflow;
	case TEST_CARRY:
		return f->carry;
	case TEST_ZERO:
		return f->zero;
	case TEST_NOT_ABOVE:
		return binary(EXPR_OR, f->carry, f->zero);
	case TEST_SIGN:
		return f->sign;
	case TEST_LESS:
		return binary(EXPR_XOR, f->sign, f->overflow);
	case TEST_NOT_GREATER:
		return binary(EXPR_OR, binary(EXPR_XOR, f->sign, f->overflow), f->zero);
	default:
		return 0;
	}
}

/* cc_op 0: the flags themselves, at their places in the register of flags. */
static struct flags flags_copied(uint32_t value)
{
	return (struct flags){
		.carry = expr_extract(&tool_store, value, 0, 1),
		.zero = expr_extract(&tool_store, value, 6, 1),
		.sign = expr_extract(&tool_store, value, 7, 1),
		.overflow = expr_extract(&tool_store, value, 11, 1),
	};
}

static uint32_t flags_condition(enum flags_test test, UInt cc_op, uint32_t dep1, uint32_t dep2)
{
	enum flags_kind kind = (cc_op - 1) / 4;
	UInt width = 8u << (cc_op - 1) % 4;
	struct flags f;
	uint32_t a, b, r = 0;

	if (!cc_op) {
		f = flags_copied(dep1);
		return tested(test, &f);
	}
	a = expr_extract(&tool_store, dep1, 0, width);
	b = expr_extract(&tool_store, dep2, 0, width);
	if (kind == FLAGS_SUB)
		r = compared(test, a, b);
	if (r)
		return r;
	f = flags_of(kind, a, b, width);
	return tested(test, &f);
}

uint32_t operation_flags(UInt condition, UInt cc_op, uint32_t dep1, uint32_t dep2)
{
	uint32_t r = flags_condition(condition / 2, cc_op, dep1, dep2);

	if (!r && !tool_store.full) {
		tool_log->lost_flags = cc_op << 8 | condition;
		tool_gap(GAP_FLAGS);
	}
	if (condition & 1)
		r = expr_not(&tool_store, r);
	return tool_finished(expr_zext(&tool_store, r, 64));
}
