/* crowd.h -- several targets that make the same calls.
 *
 * Each is judged by the model with its own traits. Where their outcomes differ and all are
 * allowed, the difference is listed; where one is not, the others say who is the odd one out. */
#ifndef EXPLORE_CROWD_H
#define EXPLORE_CROWD_H

#include "explore/explorer.h"

/* Of x->target and options->against, all of them fresh: they have to look alike. */
int crowd_new(struct crowd **ret, const struct explorer *x, struct err *err);
void crowd_free(struct crowd *c); /* NULL is none */

/* All are saved, restored, or forget what was saved. */
int crowd_save(const struct crowd *c, uint64_t key, struct err *err);
int crowd_restore(const struct crowd *c, uint64_t key, struct err *err);
void crowd_drop(const struct crowd *c, uint64_t key);

/* All follow the plan, which begins in x->state, up to the first step whose expected outcome the
 * model of one of them forbids. *ret_failed is the first step that surprised one of them, or count;
 * to do what is expected is a surprise where its own model forbids it. */
int crowd_follow(struct crowd *c, const struct explorer *x, const struct plan_step *steps,
		 size_t count, size_t *ret_failed, struct err *err);
/* The step that surprised was a probe: the call before it had this outcome, as expected. */
void crowd_probed(struct crowd *c, const struct outcome *expected);
/* Judges those whom the step surprised that crowd_follow() named, with the model before it in
 * x->state. All targets have to be made fresh afterwards. */
int crowd_judge(struct crowd *c, struct explorer *x, uint32_t call, struct err *err);

#endif
