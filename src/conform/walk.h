/* walk.h -- a sequence of calls on a target beside the model.
 *
 * The model says what each call will answer, the target carries them all out and stops where
 * something is different (target_follow); what is different is judged, and the walk goes on
 * behind it. The tree is compared at the end. */
#ifndef CONFORM_WALK_H
#define CONFORM_WALK_H

#include "conform/session.h"

struct walker {
	struct target *target;
	struct model model, posix;
	struct state state; /* as the model has it */
	struct plan_step *steps;
	size_t step_count, step_cap;
	size_t prefix;            /* steps at the beginning that must go exactly as foreseen */
	bool changed;             /* a call has changed something */
	struct arena arena, kept; /* of one script; of the session */
	struct session_figures figures;
};

/* The calls of one walk, and how it went. */
struct walk {
	const struct call *calls;
	unsigned count;
	bool times;               /* of files are compared, not trees */
	bool blind;               /* trees are not compared */
	bool closely;             /* the tree is compared after every call, not only the last */
	struct outcome *outcomes; /* to be filled, or NULL */
	/* What the set-up before it was, for a history that stands for itself. */
	const struct call *setup_calls;
	const struct outcome *setup_outcomes;
	unsigned setup_count;
	enum script_fate fate;
	struct deviation *deviation; /* the first one */
	bool stopped;                /* the target hung or died */
	bool prefix_failed;          /* the steps at the beginning went differently */
};

void walker_set_state(struct walker *x, struct state state);
struct plan_step *walker_add_step(struct walker *x, const struct call *c);
/* Adds a call with what the model says that it will answer; `ahead` moves there. */
struct plan_step *walker_foresee(struct walker *x, struct state *ahead, const struct call *c);
int walker_observe(struct walker *x, struct tree *ret, enum target_fate *ret_fate, struct err *err);
/* A call that answered something else than foreseen; the state is the one before it, and moves. */
enum script_fate walker_judge(struct walker *x, unsigned step, const struct call *c,
			      const struct outcome *seen, struct deviation *d,
			      struct envelope *ret);
void walker_report_fate(struct deviation *d, enum target_fate fate, unsigned step,
			const struct call *c);
/* The steps that are there already, alone. */
int walker_prefix(struct walker *x, struct walk *w, struct err *err);
/* From the walker's state on; behind the steps that are there already, `prefix` of them. */
int walker_walk(struct walker *x, struct walk *w, struct err *err);

#endif
