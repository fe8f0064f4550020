/* solver.h -- inputs that satisfy conditions, by Z3.
 *
 * One incremental solver keeps what it learned: a condition is translated once, and every question
 * is asked by assuming some of them. It starts again when it has grown large. */
#ifndef SYMBOLIC_SOLVER_H
#define SYMBOLIC_SOLVER_H

#include <stddef.h>

#include "symbolic/expr.h"

enum solver_answer {
	SOLVER_YES,
	SOLVER_NO,
	SOLVER_UNKNOWN, /* too hard within the limit */
};

/* The expression has the value, or, if it is not `equal`, any other. */
struct solver_term {
	uint32_t expr;
	bool equal;
	uint64_t value;
};

struct solver;

struct solver *solver_open(uint32_t inputs);
void solver_close(struct solver *s);

/* The expressions that questions are about from now on, with their hashes (expr_hashes.h); valid
 * until the next call. */
void solver_use(struct solver *s, const struct expr *exprs, uint32_t count, const uint64_t *hashes);
/* Whether some input satisfies all terms; YES fills ret_inputs. */
enum solver_answer solver_ask(struct solver *s, const struct solver_term *terms, size_t count,
			      uint8_t *ret_inputs);
/* Whether any other input than this one satisfies them. */
enum solver_answer solver_ask_other(struct solver *s, const struct solver_term *terms, size_t count,
				    const uint8_t *inputs);
/* Of the work for one question from now on, in units of Z3 (rlimit). */
void solver_limit(struct solver *s, uint32_t limit);
uint64_t solver_questions(const struct solver *s);

/* Inputs that differ from these in one byte, tried one by one, for questions that were too hard:
 * all other bytes are taken as they are. */
bool solver_try_bytes(const struct solver *s, const struct solver_term *terms, size_t count,
		      const uint8_t *inputs, uint8_t *ret_inputs);

#endif
