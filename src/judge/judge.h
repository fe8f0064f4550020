/* judge.h -- is the outcome allowed, is the tree the model's?
 *
 * Functions that ask the target return a negative errno for failures of ours, or else an enum
 * verdict. VERDICT_BAD fills the discrepancy, which was initialised before. */
#ifndef JUDGE_JUDGE_H
#define JUDGE_JUDGE_H

#include "judge/discrepancy.h"
#include "target/target.h"

/* Judges the outcome of a call in `s`; s moves as model_step() says. VERDICT_UNKNOWN: the platform
 * leaves the call undefined. ret_env: what is allowed. */
enum verdict judge_outcome(const struct model *m, struct state *s, const struct call *c,
			   const struct outcome *seen, struct envelope *ret_env,
			   struct discrepancy *ret);
/* The object that an argument of the call leads to, by a path from the root without symbolic links;
 * 0: none. */
uint64_t judge_object(const struct state *s, const struct call *c, unsigned i);
/* Compares the tree after a call with that of `s`. */
enum verdict judge_tree(const struct state *s, const struct call *c, const struct tree *seen,
			struct discrepancy *ret);
/* Describes a call that ended in this fate (not FATE_FINE), with the log of the target. */
void judge_describe_fate(struct target *t, const struct call *c, enum target_fate fate,
			 struct discrepancy *ret);

/* Judges what a call of `s` returned and, if `observe`, the tree of the target after it. A call
 * that is undefined passes where it went as the deterministic model does. A tree that is right at
 * a second look is a discrepancy, too: DRIFT. VERDICT_UNKNOWN: where the call led is not known, or
 * what differs is a consequence of a failure (gave_up.h), or the half of a call that ran out of
 * space. Where that is a new file only, judge_step_over() continues behind it. */
int judge_answer(struct target *t, const struct model *m, struct state *s, const struct call *c,
		 const struct outcome *seen, bool observe, struct discrepancy *ret,
		 struct err *err);
/* Describes times that the step of a plan showed; `before` and `after` are the model's states. */
void judge_describe_times(const struct model *m, const struct state *before,
			  const struct state *after, const struct call *c,
			  const struct time_mismatch *times, struct discrepancy *ret);
/* Judges the step of a plan that a target stopped at: its fate, its outcome, if `observe` the tree,
 * and the times that the target reported. */
int judge_report(struct target *t, const struct model *m, struct state *s, const struct call *c,
		 const struct plan_report *report, bool observe, struct discrepancy *ret,
		 struct err *err);
/* The same as judge_answer() for a call that ended in this fate. */
int judge_fate(struct target *t, const struct model *m, const struct state *s, const struct call *c,
	       enum target_fate fate, struct discrepancy *ret, struct err *err);

#endif
