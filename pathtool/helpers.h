/* helpers.h -- functions that translated code calls where something symbolic is at hand.
 *
 * An expression is passed as its number, 0 for none. */
#ifndef PATHTOOL_HELPERS_H
#define PATHTOOL_HELPERS_H

#include "pathtool/operations.h"

/* Operands wider than 64 bits are stored here before the call. */
extern UChar helper_wide[2][32];

ULong helper_load(Addr at, UWord len, UWord address, Addr pc);
void helper_store(Addr at, UWord len, UWord data);
void helper_store_address(UWord address, UWord value, Addr pc);
ULong helper_get(UWord offset, UWord len);
void helper_put(UWord offset, UWord len, UWord data);
ULong helper_unary(const struct operation *o, UWord a);
ULong helper_binary(const struct operation *o, UWord a, UWord b, ULong a_value, ULong b_value,
		    Addr pc);
/* condition_value: the value, and the width of the result above bit 0. */
ULong helper_ite(UWord condition, UWord condition_value, UWord a, UWord b, ULong a_value,
		 ULong b_value);
ULong helper_flags(UWord condition, UWord cc_op, UWord dep1, UWord dep2, ULong dep1_value,
		   ULong dep2_value);
void helper_lost(UWord op);
void helper_branch(UWord condition, UWord taken, Addr pc);
void helper_jump(UWord target, UWord value, Addr pc);
/* A size given to a function that allocates is taken as it is. */
void helper_fix_argument(UWord offset, UWord value, Addr pc);

#endif
