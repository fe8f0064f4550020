/* interval.h -- between which values an expression lies, given the conditions that hold.
 *
 * Used for addresses that depend on the input: only what a load can reach is looked at. Too wide
 * is right, too narrow never is. Without the C library, as expr.h. */
#ifndef SYMBOLIC_INTERVAL_H
#define SYMBOLIC_INTERVAL_H

#include "symbolic/expr.h"

struct interval {
	uint64_t low, high;
};

enum { INTERVAL_FACTS_MAX = 1024 }; /* a power of two; three quarters are used */

/* What the conditions so far say of single expressions, in a hash table. */
struct interval_facts {
	struct interval_fact {
		uint32_t expr; /* 0: a free slot */
		struct interval in;
	} facts[INTERVAL_FACTS_MAX];
	uint32_t count;
};

/* Of an expression of at most 64 bits. */
struct interval interval_of(const struct expr_store *s, const struct interval_facts *f, uint32_t e);
/* From now on the condition (of one bit) has this value. */
void interval_learn(const struct expr_store *s, struct interval_facts *f, uint32_t condition,
		    bool holds);
/* Whether the facts say which value the condition has. */
bool interval_decides(const struct expr_store *s, const struct interval_facts *f,
		      uint32_t condition, bool *ret_holds);
/* Its values differ by multiples of two to the power of this. */
unsigned interval_step_log2(const struct expr_store *s, uint32_t e);

#endif
