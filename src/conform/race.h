/* race.h -- calls that really overlap, and the order of their effects that explains them.
 *
 * The processes of a script make their calls at the same time. What came back, in the order of
 * calls and returns, is a history; the model looks for an order of the calls' effects that gives
 * all the outcomes and the tree that is there afterwards. */
#ifndef CONFORM_RACE_H
#define CONFORM_RACE_H

#include "conform/walk.h"
#include "history/check.h"

/* One race: what came back, and what judges it. */
struct race_run {
	struct walker *walker;
	struct script_walk *walk;
	struct race_outcome raced[TARGET_RACE_MAX];
	struct item_return returns[TARGET_RACE_MAX];
	struct script trace;
	struct trace_checker checker;
	struct tree tree;
	bool stays; /* the state that the walker is in does not move to where the race leads */
};

struct race_run *race_new(struct walker *x, struct script_walk *w);
void race_free(struct race_run *r);
/* Takes over what came back. */
void race_write_trace(struct race_run *r);
/* Judges that and the tree, of a race from the walker's state; the walk says what is wrong. */
void race_judge(struct race_run *r);
/* What they leave behind is wrong, though an order explains the calls. */
void race_report_aftermath(struct race_run *r, const struct discrepancy *found);
/* The target hung or died, or its kernel complains. */
void race_report_fate(struct race_run *r, enum target_fate fate);

/* Carries out the walker's steps, then the walk's calls at once; the seed shifts them a little. */
int race_walk(struct walker *x, struct script_walk *w, uint64_t seed, struct err *err);

#endif
