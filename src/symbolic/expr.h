/* expr.h -- expressions over bytes of a disk: what a checker computed from them.
 *
 * An expression is a number in a store; equal expressions have equal numbers, and operands have
 * smaller numbers than what uses them, so a pass over a store needs no recursion. Number 0 is no
 * expression; every constructor answers 0 where an operand is 0 or the store is full.
 *
 * A value has 1 to 64 bits. Vector registers are wider: of these there are only EXPR_CONCAT and
 * constants, which expr_extract() takes apart again.
 *
 * Compiled into the checker and into the Valgrind tool (pathtool/), which has no C library: memory
 * is the caller's. */
#ifndef SYMBOLIC_EXPR_H
#define SYMBOLIC_EXPR_H

#include <stdbool.h>
#include <stdint.h>

enum expr_op {
	EXPR_NONE,
	EXPR_INPUT, /* symbolic byte number `value` */
	EXPR_CONST,
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL,
	EXPR_MUL_HIGH_U, /* the upper half of the double product */
	EXPR_MUL_HIGH_S,
	EXPR_UDIV, /* by zero: as SMT-LIB says */
	EXPR_SDIV,
	EXPR_UREM,
	EXPR_SREM,
	EXPR_AND,
	EXPR_OR,
	EXPR_XOR,
	EXPR_SHL, /* by more than the width: 0, or the sign */
	EXPR_LSHR,
	EXPR_ASHR,
	EXPR_EQ, /* these have one bit */
	EXPR_ULT,
	EXPR_ULE,
	EXPR_SLT,
	EXPR_SLE,
	EXPR_CONCAT,  /* args[0] above args[1] */
	EXPR_EXTRACT, /* from bit `value` on */
	EXPR_SEXT,
	EXPR_ITE,
	EXPR_OPS
};

struct expr {
	uint16_t op, width;
	uint32_t args[3];
	uint64_t value;
};

struct expr_store {
	struct expr *exprs; /* from number 1 on */
	uint32_t count, max;
	uint32_t *buckets;
	uint32_t bucket_count, bucket_max; /* powers of two; only those in use are touched */
	bool full;
};

/* There are at least twice as many buckets as expressions, and all are zero. */
void expr_store_init(struct expr_store *s, struct expr *exprs, uint32_t max, uint32_t *buckets,
		     uint32_t bucket_max);

static inline uint64_t expr_mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static inline int64_t expr_signed(uint64_t value, unsigned width)
{
	return (int64_t)(value << (64 - width)) >> (64 - width);
}

static inline bool expr_is_const(const struct expr_store *s, uint32_t e)
{
	return s->exprs[e].op == EXPR_CONST;
}

/* Whether it depends on no input; also of wide ones. */
bool expr_is_fixed(const struct expr_store *s, uint32_t e);
/* What is above the zeros of a zero extension; otherwise the expression itself. */
uint32_t expr_without_zeros(const struct expr_store *s, uint32_t e);

uint32_t expr_input(struct expr_store *s, uint32_t number);
uint32_t expr_const(struct expr_store *s, unsigned width, uint64_t value);
uint32_t expr_binary(struct expr_store *s, enum expr_op op, uint32_t a, uint32_t b);
uint32_t expr_not(struct expr_store *s, uint32_t a); /* of every bit */
uint32_t expr_concat(struct expr_store *s, uint32_t high, uint32_t low);
uint32_t expr_extract(struct expr_store *s, uint32_t a, unsigned low, unsigned width);
uint32_t expr_zext(struct expr_store *s, uint32_t a, unsigned width);
uint32_t expr_sext(struct expr_store *s, uint32_t a, unsigned width);
uint32_t expr_ite(struct expr_store *s, uint32_t condition, uint32_t a, uint32_t b);
/* Byte number i of it, such that the bytes joined by expr_concat() are the expression again. */
uint32_t expr_byte(struct expr_store *s, uint32_t a, unsigned i);

/* The value of one operation on values of its operands. */
uint64_t expr_apply(const struct expr *e, const struct expr *exprs, const uint64_t args[3]);
/* values[i] of all expressions from 1 to count - 1, for these inputs; wide ones have no value. */
void expr_evaluate(const struct expr *exprs, uint32_t count, const uint8_t *inputs,
		   uint64_t *values);
unsigned expr_arity(enum expr_op op);

#endif
