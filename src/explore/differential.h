/* differential.h -- several targets that follow the same plans.
 *
 * Each is judged by the model with its own traits. Where their outcomes differ and all are
 * allowed, the difference is listed; where one is not, the others say who is the odd one out. */
#ifndef EXPLORE_DIFFERENTIAL_H
#define EXPLORE_DIFFERENTIAL_H

#include "explore/explorer.h"

/* All targets are fresh: their file systems have to look alike. */
int differential_begin(struct explorer *x, struct err *err);
/* Judges the targets on which this step of the last plan, a call in x->state, mismatched. All
 * targets have to be made fresh afterwards. */
int differential_judge(struct explorer *x, uint32_t call, size_t step, struct err *err);

#endif
