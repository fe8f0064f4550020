/* operations.c -- what VEX's operations make of expressions. */
#include "pathtool/operations.h"

UInt operation_bits(IRType type)
{
	return type == Ity_I1 ? 1 : 8 * sizeofIRType(type);
}

void operation_lost(UInt op)
{
	if (!tool_log->gaps[GAP_LOST])
		tool_log->lost_op = op;
	tool_gap(GAP_LOST);
}

static uint32_t extract(uint32_t e, UInt low, UInt width)
{
	return expr_extract(&tool_store, e, low, width);
}

static uint32_t constant(UInt width, ULong value)
{
	return expr_const(&tool_store, width, value);
}

static UInt width_of(uint32_t e)
{
	return tool_store.exprs[e].width;
}

/* --- vectors --- */

static uint32_t append(uint32_t low, uint32_t high)
{
	return low ? expr_concat(&tool_store, high, low) : high;
}

typedef uint32_t lane_function(enum expr_op op, uint32_t a, uint32_t b);

static uint32_t lane_plain(enum expr_op op, uint32_t a, uint32_t b)
{
	return expr_binary(&tool_store, op, a, b);
}

/* All ones where it holds. */
static uint32_t lane_compare(enum expr_op op, uint32_t a, uint32_t b)
{
	return expr_sext(&tool_store, expr_binary(&tool_store, op, a, b), width_of(a));
}

static uint32_t lane_lesser(enum expr_op less, uint32_t a, uint32_t b)
{
	return expr_ite(&tool_store, expr_binary(&tool_store, less, a, b), a, b);
}

static uint32_t lane_greater(enum expr_op less, uint32_t a, uint32_t b)
{
	return expr_ite(&tool_store, expr_binary(&tool_store, less, a, b), b, a);
}

static uint32_t lanes(lane_function *f, enum expr_op op, uint32_t a, uint32_t b, UInt lane)
{
	uint32_t r = 0;

	for (UInt i = 0; i < width_of(a); i += lane)
		r = append(r, f(op, extract(a, i, lane), extract(b, i, lane)));
	return r;
}

static uint32_t lanes_shifted(enum expr_op op, uint32_t a, uint32_t by, UInt lane)
{
	uint32_t r = 0;

	by = width_of(by) < lane ? expr_zext(&tool_store, by, lane) : extract(by, 0, lane);
	for (UInt i = 0; i < width_of(a); i += lane)
		r = append(r, expr_binary(&tool_store, op, extract(a, i, lane), by));
	return r;
}

static uint32_t interleaved(uint32_t a, uint32_t b, UInt lane, UInt from)
{
	uint32_t r = 0;

	for (UInt i = from; i < from + 64; i += lane)
		r = append(append(r, extract(b, i, lane)), extract(a, i, lane));
	return r;
}

static uint32_t top_bits(uint32_t a, UInt width)
{
	uint32_t r = 0;

	for (UInt i = 7; i < width_of(a); i += 8)
		r = append(r, extract(a, i, 1));
	return expr_zext(&tool_store, r, width);
}

/* Of a vector by a known number of bits. */
static uint32_t vector_shifted(uint32_t a, uint32_t by, Bool left)
{
	UInt width = width_of(a), n;

	if (!expr_is_const(&tool_store, by))
		return 0;
	n = tool_store.exprs[by].value;
	if (!n)
		return a;
	if (n >= width)
		return constant(width, 0);
	if (left)
		return expr_concat(&tool_store, extract(a, 0, width - n), constant(n, 0));
	return expr_zext(&tool_store, extract(a, n, width - n), width);
}

/* The number of the first bit that is set, from below or above. */
static uint32_t first_bit(uint32_t a, Bool from_below)
{
	UInt width = width_of(a);
	uint32_t r = constant(width, width);

	for (UInt i = 0; i < width; i++) {
		UInt bit = from_below ? width - 1 - i : i;

		r = expr_ite(&tool_store, extract(a, bit, 1),
			     constant(width, from_below ? bit : width - 1 - bit), r);
	}
	return r;
}

/* --- one operand --- */

static uint32_t unary_vector(const struct operation *o, uint32_t a)
{
	switch (o->op) {
	case Iop_GetMSBs8x8:
	case Iop_GetMSBs8x16:
		return top_bits(a, o->result);
	case Iop_V256to64_1:
		return extract(a, 64, 64);
	case Iop_V256to64_2:
		return extract(a, 128, 64);
	case Iop_V256to64_3:
		return extract(a, 192, 64);
	case Iop_CmpNEZ8x16:
		return expr_not(&tool_store, lanes(lane_compare, EXPR_EQ, a, constant(128, 0), 8));
	case Iop_Ctz32:
	case Iop_Ctz64:
	case Iop_CtzNat32:
	case Iop_CtzNat64:
		return first_bit(a, True);
	case Iop_Clz32:
	case Iop_Clz64:
	case Iop_ClzNat32:
	case Iop_ClzNat64:
		return first_bit(a, False);
	default:
		return 0;
	}
}

static uint32_t unary(const struct operation *o, uint32_t a)
{
	switch (o->op) {
	case Iop_Not1:
	case Iop_Not8:
	case Iop_Not16:
	case Iop_Not32:
	case Iop_Not64:
	case Iop_NotV128:
	case Iop_NotV256:
		return expr_not(&tool_store, a);
	case Iop_1Uto8:
	case Iop_1Uto32:
	case Iop_1Uto64:
	case Iop_8Uto16:
	case Iop_8Uto32:
	case Iop_8Uto64:
	case Iop_16Uto32:
	case Iop_16Uto64:
	case Iop_32Uto64:
	case Iop_32UtoV128:
	case Iop_64UtoV128:
		return expr_zext(&tool_store, a, o->result);
	case Iop_1Sto8:
	case Iop_1Sto16:
	case Iop_1Sto32:
	case Iop_1Sto64:
	case Iop_8Sto16:
	case Iop_8Sto32:
	case Iop_8Sto64:
	case Iop_16Sto32:
	case Iop_16Sto64:
	case Iop_32Sto64:
		return expr_sext(&tool_store, a, o->result);
	case Iop_16to8:
	case Iop_32to1:
	case Iop_32to8:
	case Iop_32to16:
	case Iop_64to1:
	case Iop_64to8:
	case Iop_64to16:
	case Iop_64to32:
	case Iop_128to64:
	case Iop_V128to32:
	case Iop_V128to64:
	case Iop_V256toV128_0:
	case Iop_V256to64_0:
		return extract(a, 0, o->result);
	case Iop_16HIto8:
	case Iop_32HIto16:
	case Iop_64HIto32:
	case Iop_128HIto64:
	case Iop_V128HIto64:
	case Iop_V256toV128_1:
		return extract(a, width_of(a) / 2, o->result);
	case Iop_CmpNEZ8:
	case Iop_CmpNEZ16:
	case Iop_CmpNEZ32:
	case Iop_CmpNEZ64:
		return expr_not(&tool_store,
				expr_binary(&tool_store, EXPR_EQ, a, constant(width_of(a), 0)));
	case Iop_ReinterpF64asI64:
	case Iop_ReinterpI64asF64:
	case Iop_ReinterpF32asI32:
	case Iop_ReinterpI32asF32:
		return a;
	default:
		return unary_vector(o, a);
	}
}

/* --- two operands --- */

#define ALL_WIDTHS(op) \
	case op##8: \
	case op##16: \
	case op##32: \
	case op##64

static uint32_t quotient_pair(enum expr_op div, enum expr_op rem, uint32_t a, uint32_t b, UInt half)
{
	uint32_t q = expr_binary(&tool_store, div, a, b), r = expr_binary(&tool_store, rem, a, b);

	return expr_concat(&tool_store, extract(r, 0, half), extract(q, 0, half));
}

/* Of twice the width; 128 bits only where the upper half says nothing new. */
static uint32_t divided(uint32_t a, uint32_t b, Bool is_signed)
{
	UInt half = width_of(b);
	enum expr_op div = is_signed ? EXPR_SDIV : EXPR_UDIV,
		     rem = is_signed ? EXPR_SREM : EXPR_UREM;
	uint32_t low, extended;

	if (half < 64) {
		b = is_signed ? expr_sext(&tool_store, b, 2 * half)
			      : expr_zext(&tool_store, b, 2 * half);
		return quotient_pair(div, rem, a, b, half);
	}
	low = extract(a, 0, 64);
	extended = is_signed ? expr_sext(&tool_store, low, 128) : expr_zext(&tool_store, low, 128);
	return a == extended ? quotient_pair(div, rem, low, b, 64) : 0;
}

static uint32_t double_product(uint32_t a, uint32_t b, Bool is_signed)
{
	UInt width = width_of(a);

	if (width < 64) {
		a = is_signed ? expr_sext(&tool_store, a, 2 * width)
			      : expr_zext(&tool_store, a, 2 * width);
		b = is_signed ? expr_sext(&tool_store, b, 2 * width)
			      : expr_zext(&tool_store, b, 2 * width);
		return expr_binary(&tool_store, EXPR_MUL, a, b);
	}
	return expr_concat(&tool_store,
			   expr_binary(&tool_store, is_signed ? EXPR_MUL_HIGH_S : EXPR_MUL_HIGH_U,
				       a, b),
			   expr_binary(&tool_store, EXPR_MUL, a, b));
}

static uint32_t binary_vector(const struct operation *o, uint32_t a, uint32_t b)
{
	switch (o->op) {
	case Iop_CmpEQ8x8:
	case Iop_CmpEQ8x16:
	case Iop_CmpEQ8x32:
		return lanes(lane_compare, EXPR_EQ, a, b, 8);
	case Iop_CmpEQ16x8:
	case Iop_CmpEQ16x16:
		return lanes(lane_compare, EXPR_EQ, a, b, 16);
	case Iop_CmpEQ32x4:
	case Iop_CmpEQ32x8:
		return lanes(lane_compare, EXPR_EQ, a, b, 32);
	case Iop_CmpEQ64x2:
	case Iop_CmpEQ64x4:
		return lanes(lane_compare, EXPR_EQ, a, b, 64);
	case Iop_CmpGT8Sx16:
	case Iop_CmpGT8Sx32:
		return lanes(lane_compare, EXPR_SLT, b, a, 8);
	case Iop_CmpGT16Sx8:
		return lanes(lane_compare, EXPR_SLT, b, a, 16);
	case Iop_CmpGT32Sx4:
		return lanes(lane_compare, EXPR_SLT, b, a, 32);
	case Iop_Add8x16:
		return lanes(lane_plain, EXPR_ADD, a, b, 8);
	case Iop_Add16x8:
		return lanes(lane_plain, EXPR_ADD, a, b, 16);
	case Iop_Add32x4:
		return lanes(lane_plain, EXPR_ADD, a, b, 32);
	case Iop_Add64x2:
		return lanes(lane_plain, EXPR_ADD, a, b, 64);
	case Iop_Sub8x16:
		return lanes(lane_plain, EXPR_SUB, a, b, 8);
	case Iop_Sub16x8:
		return lanes(lane_plain, EXPR_SUB, a, b, 16);
	case Iop_Sub32x4:
		return lanes(lane_plain, EXPR_SUB, a, b, 32);
	case Iop_Sub64x2:
		return lanes(lane_plain, EXPR_SUB, a, b, 64);
	case Iop_Min8Ux16:
	case Iop_Min8Ux32:
		return lanes(lane_lesser, EXPR_ULT, a, b, 8);
	case Iop_Max8Ux16:
	case Iop_Max8Ux32:
		return lanes(lane_greater, EXPR_ULT, a, b, 8);
	case Iop_InterleaveLO8x16:
		return interleaved(a, b, 8, 0);
	case Iop_InterleaveLO16x8:
		return interleaved(a, b, 16, 0);
	case Iop_InterleaveLO32x4:
		return interleaved(a, b, 32, 0);
	case Iop_InterleaveLO64x2:
		return interleaved(a, b, 64, 0);
	case Iop_InterleaveHI8x16:
		return interleaved(a, b, 8, 64);
	case Iop_InterleaveHI16x8:
		return interleaved(a, b, 16, 64);
	case Iop_InterleaveHI32x4:
		return interleaved(a, b, 32, 64);
	case Iop_InterleaveHI64x2:
		return interleaved(a, b, 64, 64);
	case Iop_ShlN16x8:
		return lanes_shifted(EXPR_SHL, a, b, 16);
	case Iop_ShlN32x4:
		return lanes_shifted(EXPR_SHL, a, b, 32);
	case Iop_ShlN64x2:
		return lanes_shifted(EXPR_SHL, a, b, 64);
	case Iop_ShrN16x8:
		return lanes_shifted(EXPR_LSHR, a, b, 16);
	case Iop_ShrN32x4:
		return lanes_shifted(EXPR_LSHR, a, b, 32);
	case Iop_ShrN64x2:
		return lanes_shifted(EXPR_LSHR, a, b, 64);
	case Iop_ShlV128:
		return vector_shifted(a, b, True);
	case Iop_ShrV128:
		return vector_shifted(a, b, False);
	case Iop_SetV128lo32:
		return expr_concat(&tool_store, extract(a, 32, 96), b);
	case Iop_SetV128lo64:
		return expr_concat(&tool_store, extract(a, 64, 64), b);
	default:
		return 0;
	}
}

static uint32_t shifted(enum expr_op op, uint32_t a, uint32_t by)
{
	return expr_binary(&tool_store, op, a, expr_zext(&tool_store, by, width_of(a)));
}

static uint32_t binary_plain(const struct operation *o, uint32_t a, uint32_t b)
{
	switch (o->op) {
		ALL_WIDTHS(Iop_Shl) : return shifted(EXPR_SHL, a, b);
		ALL_WIDTHS(Iop_Shr) : return shifted(EXPR_LSHR, a, b);
		ALL_WIDTHS(Iop_Sar) : return shifted(EXPR_ASHR, a, b);
		ALL_WIDTHS(Iop_CmpNE)
		    : ALL_WIDTHS(Iop_CasCmpNE)
		    : ALL_WIDTHS(Iop_ExpCmpNE)
		    : return expr_not(&tool_store, expr_binary(&tool_store, EXPR_EQ, a, b));
		ALL_WIDTHS(Iop_MullU) : return double_product(a, b, False);
		ALL_WIDTHS(Iop_MullS) : return double_product(a, b, True);
	case Iop_8HLto16:
	case Iop_16HLto32:
	case Iop_32HLto64:
	case Iop_64HLto128:
	case Iop_64HLtoV128:
	case Iop_V128HLtoV256:
		return expr_concat(&tool_store, a, b);
	case Iop_DivModU64to32:
	case Iop_DivModU128to64:
		return divided(a, b, False);
	case Iop_DivModS64to32:
	case Iop_DivModS128to64:
		return divided(a, b, True);
	default:
		return binary_vector(o, a, b);
	}
}

/* Those that are one of ours; EXPR_NONE: others. */
static enum expr_op expr_op_of(IROp op)
{
	switch (op) {
		ALL_WIDTHS(Iop_Add) : return EXPR_ADD;
		ALL_WIDTHS(Iop_Sub) : return EXPR_SUB;
		ALL_WIDTHS(Iop_Mul) : return EXPR_MUL;
		ALL_WIDTHS(Iop_And)
		    : case Iop_And1 : case Iop_AndV128 : case Iop_AndV256 : return EXPR_AND;
		ALL_WIDTHS(Iop_Or)
		    : case Iop_Or1 : case Iop_OrV128 : case Iop_OrV256 : return EXPR_OR;
		ALL_WIDTHS(Iop_Xor) : case Iop_XorV128 : case Iop_XorV256 : return EXPR_XOR;
		ALL_WIDTHS(Iop_CmpEQ) : ALL_WIDTHS(Iop_CasCmpEQ) : return EXPR_EQ;
	case Iop_CmpLT32S:
	case Iop_CmpLT64S:
		return EXPR_SLT;
	case Iop_CmpLE32S:
	case Iop_CmpLE64S:
		return EXPR_SLE;
	case Iop_CmpLT32U:
	case Iop_CmpLT64U:
		return EXPR_ULT;
	case Iop_CmpLE32U:
	case Iop_CmpLE64U:
		return EXPR_ULE;
	default:
		return EXPR_NONE;
	}
}

Bool operation_divides(IROp op)
{
	return op == Iop_DivModU64to32 || op == Iop_DivModS64to32 || op == Iop_DivModU128to64 ||
	       op == Iop_DivModS128to64;
}

uint32_t operation_unary(const struct operation *o, uint32_t a)
{
	uint32_t r = width_of(a) == o->first ? unary(o, a) : 0;

	if (!r && !tool_store.full)
		operation_lost(o->op);
	return tool_finished(r);
}

uint32_t operation_binary(const struct operation *o, uint32_t a, uint32_t b)
{
	enum expr_op op = expr_op_of(o->op);
	uint32_t r = 0;

	if (width_of(a) == o->first && width_of(b) == o->second)
		r = op ? expr_binary(&tool_store, op, a, b) : binary_plain(o, a, b);
	if (!r && !tool_store.full)
		operation_lost(o->op);
	return tool_finished(r);
}
