/* expr_hashes.h -- hashes of expressions by their structure, the same in every store. */
#ifndef SYMBOLIC_EXPR_HASHES_H
#define SYMBOLIC_EXPR_HASHES_H

#include "symbolic/expr.h"

/* Of all from 1 to count - 1. */
void expr_hashes(const struct expr *exprs, uint32_t count, uint64_t *ret_hashes);

#endif
