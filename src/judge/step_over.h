/* step_over.h -- a discrepancy that is known is stepped over, so that it hides no other. */
#ifndef JUDGE_STEP_OVER_H
#define JUDGE_STEP_OVER_H

#include "judge/discrepancy.h"
#include "target/target.h"

/* *s is the model's state behind the call that showed the discrepancy, as judge_answer() left it.
 * Makes it the state that the target is in. 1 if so; 0, and *s is of no use, if that cannot be
 * known or followed: where the outcome of a call on descriptors differs, for instance. */
int judge_step_over(struct target *t, const struct discrepancy *d, struct state *s,
		    struct err *err);

#endif
