/* values.h -- the tiny universe of manual pages: values of every kind of argument, simplest first,
 * and calls that prepare a state. */
#ifndef MANUAL_VALUES_H
#define MANUAL_VALUES_H

#include "trace/script.h"

struct rng;

enum { MANUAL_VALUES_MAX = 32 };

struct manual_values {
	struct arg list[MANUAL_VALUES_MAX];
	size_t count;
};

/* The values that a kind of argument is tried with. */
int manual_values_read(struct manual_values *v, enum kind kind, struct arena *arena,
		       struct err *err);

/* All calls of an operation with such values; each has a number below `products`. */
struct manual_calls {
	enum op op;
	struct manual_values values[OP_ARGS_MAX];
	uint64_t products;
};

int manual_calls_read(struct manual_calls *ret, enum op op, struct arena *arena, struct err *err);
/* The call of that number, by process 1. Returns how far its values are from the simplest. */
unsigned manual_calls_get(const struct manual_calls *c, uint64_t product, struct call *ret);
/* The number of some call; simple values are likelier. */
/* The product with that value of an argument, if it comes before its own; false: no such argument.
 */
bool manual_calls_simpler(const struct manual_calls *c, uint64_t product, unsigned arg,
			  size_t value, uint64_t *ret);
uint64_t manual_calls_draw(const struct manual_calls *c, struct rng *rng);

/* Calls that prepare: they are tried alone and in pairs, behind each of the ways to begin. */
struct manual_setups {
	struct script calls;
	struct script begins[4];
	size_t begin_count;
};

/* Those that can matter for an operation, by the kinds of its arguments. */
int manual_setups_read(struct manual_setups *s, enum op op, struct err *err);
void manual_setups_free(struct manual_setups *s);

#endif
