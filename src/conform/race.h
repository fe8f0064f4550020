/* race.h -- calls that really overlap, and the order of their effects that explains them.
 *
 * The processes of a script make their calls at the same time. What came back, in the order of
 * calls and returns, is a history; the model looks for an order of the calls' effects that gives
 * all the outcomes and the tree that is there afterwards. */
#ifndef CONFORM_RACE_H
#define CONFORM_RACE_H

#include "conform/walk.h"

/* Carries out the walker's steps, then the walk's calls at once; the seed shifts them a little. */
int race_walk(struct walker *x, struct script_walk *w, uint64_t seed, struct err *err);

#endif
