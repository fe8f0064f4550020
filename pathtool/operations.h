/* operations.h -- what VEX's operations make of expressions. */
#ifndef PATHTOOL_OPERATIONS_H
#define PATHTOOL_OPERATIONS_H

#include "pathtool/tool.h"
#include <libvex_ir.h>

/* An operation with the widths of its result and operands, in bits. */
struct operation {
	IROp op;
	UShort result, first, second;
};

UInt operation_bits(IRType type);
/* 0: the result depends on no input, or the operation is not modelled, which is then counted. */
uint32_t operation_unary(const struct operation *o, uint32_t a);
uint32_t operation_binary(const struct operation *o, uint32_t a, uint32_t b);
Bool operation_divides(IROp op);
void operation_lost(UInt op);
/* The condition that amd64g_calculate_condition() answers, of 64 bits. 0: not modelled. */
uint32_t operation_flags(UInt condition, UInt cc_op, uint32_t dep1, uint32_t dep2);

#endif
