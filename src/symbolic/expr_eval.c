/* expr_eval.c -- the value of expressions for given inputs. */
#include "symbolic/expr.h"

unsigned expr_arity(enum expr_op op)
{
	switch (op) {
	case EXPR_NONE:
	case EXPR_INPUT:
	case EXPR_CONST:
		return 0;
	case EXPR_EXTRACT:
	case EXPR_SEXT:
		return 1;
	case EXPR_ITE:
		return 3;
	default:
		return 2;
	}
}

static uint64_t apply_division(enum expr_op op, uint64_t a, uint64_t b, unsigned width)
{
	int64_t x = expr_signed(a, width), y = expr_signed(b, width);

	switch (op) {
	case EXPR_UDIV:
		return b ? a / b : UINT64_MAX;
	case EXPR_UREM:
		return b ? a % b : a;
	case EXPR_SDIV:
		if (!y)
			return x < 0 ? 1 : UINT64_MAX;
		return y == -1 ? -(uint64_t)x : (uint64_t)(x / y);
	default:
		return y == 0 ? a : y == -1 ? 0 : (uint64_t)(x % y);
	}
}

static uint64_t apply_high_product(enum expr_op op, uint64_t a, uint64_t b, unsigned width)
{
	if (op == EXPR_MUL_HIGH_U)
		return (uint64_t)(((unsigned __int128)a * b) >> width);
	return (uint64_t)(((__int128)expr_signed(a, width) * expr_signed(b, width)) >> width);
}

uint64_t expr_apply(const struct expr *e, const struct expr *exprs, const uint64_t args[3])
{
	uint64_t a = args[0], b = args[1];
	unsigned width = exprs[e->args[0]].width;
	uint64_t r = 0;

	switch ((enum expr_op)e->op) {
	case EXPR_ADD:
		r = a + b;
		break;
	case EXPR_SUB:
		r = a - b;
		break;
	case EXPR_MUL:
		r = a * b;
		break;
	case EXPR_MUL_HIGH_U:
	case EXPR_MUL_HIGH_S:
		r = apply_high_product(e->op, a, b, width);
		break;
	case EXPR_UDIV:
	case EXPR_SDIV:
	case EXPR_UREM:
	case EXPR_SREM:
		r = apply_division(e->op, a, b, width);
		break;
	case EXPR_AND:
		r = a & b;
		break;
	case EXPR_OR:
		r = a | b;
		break;
	case EXPR_XOR:
		r = a ^ b;
		break;
	case EXPR_SHL:
		r = b >= width ? 0 : a << b;
		break;
	case EXPR_LSHR:
		r = b >= width ? 0 : a >> b;
		break;
	case EXPR_ASHR:
		r = (uint64_t)(expr_signed(a, width) >> (b >= width ? width - 1 : b));
		break;
	case EXPR_EQ:
		r = a == b;
		break;
	case EXPR_ULT:
		r = a < b;
		break;
	case EXPR_ULE:
		r = a <= b;
		break;
	case EXPR_SLT:
		r = expr_signed(a, width) < expr_signed(b, width);
		break;
	case EXPR_SLE:
		r = expr_signed(a, width) <= expr_signed(b, width);
		break;
	case EXPR_CONCAT:
		r = exprs[e->args[1]].width >= 64 ? b : (a << exprs[e->args[1]].width) | b;
		break;
	case EXPR_EXTRACT:
		r = a >> e->value;
		break;
	case EXPR_SEXT:
		r = (uint64_t)expr_signed(a, width);
		break;
	case EXPR_ITE:
		r = a ? b : args[2];
		break;
	default:
		break;
	}
	return r & expr_mask(e->width);
}

void expr_evaluate(const struct expr *exprs, uint32_t count, const uint8_t *inputs,
		   uint64_t *values)
{
	values[0] = 0;
	for (uint32_t i = 1; i < count; i++) {
		const struct expr *e = &exprs[i];

		if (e->width > 64) {
			values[i] = 0;
		} else if (e->op == EXPR_INPUT) {
			values[i] = inputs[e->value];
		} else if (e->op == EXPR_CONST) {
			values[i] = e->value;
		} else {
			const uint64_t args[3] = { values[e->args[0]], values[e->args[1]],
						   values[e->args[2]] };

			values[i] = expr_apply(e, exprs, args);
		}
	}
}
