/* expect_times.h -- which times a call sets, by the model's states before and after it. */
#ifndef PLAN_EXPECT_TIMES_H
#define PLAN_EXPECT_TIMES_H

#include "model/model.h"

/* `env` is what the model said of the call that led from one state to the other. Costs follow what
 * the call changed. */
void expect_times(const struct model *m, const struct state *before, const struct state *after,
		  const struct call *c, const struct envelope *env, struct times_expected *ret);

#endif
