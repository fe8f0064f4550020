/* cover.h -- which inputs and outputs were tried: counts per partition of every argument, and
 * per errno of every operation. */
#ifndef COVER_COVER_H
#define COVER_COVER_H

#include <jansson.h>
#include <stdint.h>

#include "op/op.h"

struct err;

enum { COVER_ERRNOS = 192 };

struct cover {
	uint64_t *inputs[OP_COUNT][OP_ARGS_MAX];  /* by partition; NULL until the first */
	uint64_t outputs[OP_COUNT][COVER_ERRNOS]; /* by errno; 0 is success */
};

void cover_init(struct cover *c);
void cover_free(struct cover *c);
void cover_call(struct cover *c, const struct call *call, uint64_t times);
/* The operation that a call's result counts for: unlinkat may be rmdir. */
enum op cover_result(const struct call *call);
void cover_outcome(struct cover *c, enum op op, int error, uint64_t times);
/* Adds the counts of another. */
void cover_add(struct cover *c, const struct cover *other);
/* Partitions of arguments, and outcomes of operations, with a count. */
uint64_t cover_inputs(const struct cover *c);
uint64_t cover_outcomes(const struct cover *c);
/* One value, in counts by partition of its kind that are made where absent. */
void cover_value(uint64_t **counts, enum kind kind, const struct arg *value, uint64_t times);

/* {"input": base call -> argument -> partition -> count,
 *  "output": base call -> errno or "success" -> count,
 *  "variants": call -> the same two of the call itself, without what was never tried}.
 * In "input" what was never tried is there with 0, for calls that were made at all. */
json_t *cover_json(const struct cover *c);

/* A file of such counts, from any author: NULL if it is not one. */
json_t *cover_load(const char *path, struct err *err);
/* Adds the counts of a loaded file. They are those of base calls: each variant gets them. */
void cover_add_json(struct cover *c, const json_t *coverage);
/* Writes dir/coverage.json. */
int cover_write(const json_t *coverage, const char *dir, struct err *err);

#endif
