/* spin_model.h -- the model for SPIN: states by number, and where each call leads. */
#ifndef TESTS_SPIN_MODEL_H
#define TESTS_SPIN_MODEL_H

enum { SPIN_CALLS_MAX = 256 };

/* How many calls the tiny universe has. */
extern int spin_calls;
/* By state and call: whether the call stays within the bounds. */
extern char (*spin_within)[SPIN_CALLS_MAX];
/* The state that a call within the bounds leads to; the first state is 0. */
int spin_step(int node, int call);

#endif
