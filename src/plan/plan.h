/* plan.h -- predict calls in the model, follow them on targets: the engine of every search.
 *
 * A plan begins in a state that its targets are in. Each call that is added is predicted from the
 * state behind the call before it. The targets then carry out the whole plan, which costs one
 * message to a process that serves them, and stop at the first *mismatch*: a step with another
 * outcome or another tree than predicted, one whose outcome could not be predicted, a hang, a
 * death. The caller gets the mismatch, and the model's state before it.
 *
 * Adding a step allocates nothing once a plan of its length was made: steps stay allocated, and
 * bytes of outcomes lie in an arena. How long a plan may get is for its caller to bound. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/arena.h"
#include "plan/predict.h"
#include "target/target.h"

struct plan {
	const struct predictor *predictor;
	struct plan_step *steps; /* texts of calls are the caller's */
	size_t count, cap;
	struct state state; /* the model's, behind the last step */
	struct hash hash;   /* of the state; where that was asked for (plan_keep_hash()) */
	bool keeps_hash;
	struct arena arena; /* bytes of outcomes, and paths, until the next plan */
};

/* The plan is empty, and its targets are in this state. */
void plan_init(struct plan *p, const struct predictor *predictor, const struct state *s);
void plan_free(struct plan *p);
/* The same again: a new plan that begins in this state. */
void plan_begin(struct plan *p, const struct state *s);
/* A new plan that begins where the last one ended. */
void plan_begin_behind(struct plan *p);
/* From now on plan.hash is kept for plans of predicted calls. */
void plan_keep_hash(struct plan *p);
/* The steps that are there lead to this state, whatever was predicted. */
void plan_lead_to(struct plan *p, const struct state *s);

/* Predicts a call and adds it, within the bounds of the predictor; `observe` says whether the tree
 * is compared after it. NULL: it is not to be made (predict()), and the plan stays as it is. */
const struct plan_step *plan_add(struct plan *p, const struct call *c, bool observe);
/* Adds a call whatever the model says of it. The plan ends at one whose outcome the platform leaves
 * undefined. */
const struct plan_step *plan_add_any(struct plan *p, const struct call *c, bool observe);
/* Adds a call whose outcome is known; the state does not move (plan_lead_to()). The bytes of the
 * outcome are the caller's. tree: compared after it, or NULL. */
void plan_add_known(struct plan *p, const struct call *c, const struct outcome *expected,
		    const struct tree *tree);
/* The same as plan_add(), but of the tree only what the call can have touched is compared, where
 * the target can do that. */
const struct plan_step *plan_add_touched(struct plan *p, const struct call *c);
/* All of the tree is compared behind the last step after all, if any of it is. */
void plan_look_at_all(struct plan *p);

/* A target follows the plan. Where ret->done is less than p->count, that step mismatched; the bytes
 * of its outcome are the plan's. */
int plan_follow(struct plan *p, struct target *t, struct plan_report *ret, struct err *err);

/* All follow a plan that began in state `from`, each to its own mismatch. Outcomes are predicted by
 * the model of the first; to do as predicted is a mismatch where the model of another forbids that
 * to it, and no target goes beyond. A step that a target does not make, for the space it would
 * take, ends the plan and is no failure: end.refused. *ret_done is the first step that mismatched
 * or was refused on one of them, or p->count. */
int plan_follow_all(struct plan *p, const struct state *from, struct plan_follower *followers,
		    size_t count, size_t *ret_done, struct err *err);

/* Moves *s from the state before step `from` to the state before step `done`; with p->count, behind
 * the last. */
void plan_advance(const struct plan *p, size_t from, size_t done, struct state *s);

#endif
