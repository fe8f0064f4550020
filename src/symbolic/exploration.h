/* exploration.h -- an exploration of paths under way: what is known, what is to be tried. */
#ifndef SYMBOLIC_EXPLORATION_H
#define SYMBOLIC_EXPLORATION_H

#include "symbolic/frontier.h"
#include "symbolic/path_log.h"
#include "symbolic/path_tree.h"
#include "symbolic/solver.h"

/* Why an exploration is not complete. */
enum exploration_gap {
	EXPLORATION_TIME,      /* was up: inputs that were not run */
	EXPLORATION_LIMIT,     /* of paths: the same */
	EXPLORATION_STOPPED,   /* the same */
	EXPLORATION_TIMED_OUT, /* runs that were killed */
	EXPLORATION_UNSOLVED,  /* decisions that were too hard for the solver */
	EXPLORATION_REPEATED,  /* decisions at a place where many were turned before */
	EXPLORATION_DIVERGED,  /* runs that did not take the edge that they were made for */
	EXPLORATION_WRONG,     /* conditions that do not hold for their own input */
	EXPLORATION_GAPS
};

struct exploration {
	struct path_tree tree;
	struct frontier frontier;
	struct solver *solver;
	double until; /* of the clock; 0: for ever */
	uint64_t gaps[EXPLORATION_GAPS];
};

bool exploration_time_is_up(const struct exploration *x);

/* Looks at a run of this input: adds inputs that decide otherwise to the frontier, and the input
 * itself, to be looked at again, where that would take too long now. Returns the path. */
struct hash exploration_walk(struct exploration *x, const struct path_log *log,
			     const struct frontier_input *input);

#endif
