/* expr_hashes.c -- hashes of expressions by their structure, the same in every store. */
#include "symbolic/expr_hashes.h"

#include "base/hash.h"

static bool expr_commutes(enum expr_op op)
{
	return op == EXPR_ADD || op == EXPR_MUL || op == EXPR_AND || op == EXPR_OR ||
	       op == EXPR_XOR || op == EXPR_EQ;
}

void expr_hashes(const struct expr *exprs, uint32_t count, uint64_t *ret_hashes)
{
	ret_hashes[0] = 0;
	for (uint32_t i = 1; i < count; i++) {
		const struct expr *e = &exprs[i];
		uint64_t key[5] = { (uint64_t)e->op << 16 | e->width, e->value,
				    ret_hashes[e->args[0]], ret_hashes[e->args[1]],
				    ret_hashes[e->args[2]] };

		/* Which operand has the smaller number depends on the run. */
		if (expr_commutes(e->op) && key[2] > key[3]) {
			uint64_t first = key[3];

			key[3] = key[2];
			key[2] = first;
		}
		ret_hashes[i] = hash64(key, sizeof(key), 0);
	}
}
