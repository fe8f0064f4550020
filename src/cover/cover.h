/* cover.h -- which inputs and outputs were tried: counts per partition of every argument, and
 * per errno of every operation. */
#ifndef COVER_COVER_H
#define COVER_COVER_H

#include <jansson.h>
#include <stdint.h>

#include "op/op.h"

enum { COVER_ERRNOS = 192 };

struct cover {
	uint64_t *inputs[OP_COUNT][OP_ARGS_MAX];  /* by partition; NULL until the first */
	uint64_t outputs[OP_COUNT][COVER_ERRNOS]; /* by errno; 0 is success */
};

void cover_init(struct cover *c);
void cover_free(struct cover *c);
void cover_call(struct cover *c, const struct call *call, uint64_t times);
void cover_outcome(struct cover *c, enum op op, int error, uint64_t times);

/* {"input": base call -> argument -> partition -> count, "output": base call -> errno or
 * "success" -> count}; what was never tried is there with 0 for calls that were made at all. */
json_t *cover_json(const struct cover *c);

#endif
