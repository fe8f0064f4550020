/* walk.h -- a sequence of calls on a target beside the model.
 *
 * The target follows a plan of all calls (plan.h). What mismatches is judged, and the walk
 * continues behind it with a new plan. The tree is compared at the end. */
#ifndef CONFORM_WALK_H
#define CONFORM_WALK_H

#include "conform/deviation.h"
#include "conform/figures.h"
#include "plan/plan.h"
#include "suite/suite.h"
#include "target/target.h"

struct walker {
	struct target *target;
	struct model model;
	struct predictor predictor; /* by the model, without bounds */
	struct state state;         /* as the model has it, behind the steps that are planned */
	struct plan plan;           /* steps that bring the set-up about, until a walk begins */
	bool changed;               /* a call has changed something */
	struct arena arena, kept;   /* of one script; of the session */
	struct session_figures figures;
};

/* The calls of one walk, and how it went. */
struct script_walk {
	const struct call *calls;
	unsigned count;
	bool times;               /* of files are compared, not trees */
	bool blind;               /* trees are not compared */
	bool closely;             /* the tree is compared after every call, not only the last */
	struct outcome *outcomes; /* to be filled, or NULL */
	/* The set-up before it, for a history that is complete. */
	const struct call *setup_calls;
	const struct outcome *setup_outcomes;
	unsigned setup_count;
	enum script_fate fate;
	struct deviation *deviation; /* the first one */
	bool stopped;                /* the target hung or died */
	bool prefix_failed;          /* the steps that were planned before it mismatched */
};

void walker_set_state(struct walker *x, struct state state);
/* Adds a call to the plan with the outcome that the model predicts for it. */
void walker_predict(struct walker *x, const struct call *c, bool observe);
int walker_observe(struct walker *x, struct tree *ret, enum target_fate *ret_fate, struct err *err);
/* Judges the outcome of a call; the state is the one before it, and moves. */
enum script_fate walker_judge(struct walker *x, unsigned step, const struct call *c,
			      const struct outcome *seen, struct deviation *d,
			      struct envelope *ret);
void walker_report_fate(struct walker *x, struct deviation *d, enum target_fate fate, unsigned step,
			const struct call *c);
/* The target follows the steps that are planned already, alone. */
int walker_prefix(struct walker *x, struct script_walk *w, struct err *err);
/* The target follows the steps that are planned already, which lead to the walker's state, and then
 * the calls of the walk. */
int walker_walk(struct walker *x, struct script_walk *w, struct err *err);

#endif
