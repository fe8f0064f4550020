/* choose.h -- which call to try next in a state. */
#ifndef EXPLORE_CHOOSE_H
#define EXPLORE_CHOOSE_H

#include "explore/explorer.h"

/* All choose for the state behind a plan that keeps its hash. */

/* A call that was not tried in this node yet, drawn by weight while that is easy, or NODE_NONE
 * if there is none. Now and then several are drawn and the one is taken whose outcome, as the
 * model predicts it, was seen least. */
uint32_t choose_untried(struct explorer *x, const struct plan *p, uint32_t node);
/* A call, tried or not, that leads from this state to another, drawn by weight; NODE_NONE if none
 * was found. */
uint32_t choose_leaving(struct explorer *x, const struct plan *p);
/* Any call, tried or not, drawn by weight; where calls are dear, mostly one that leads on. */
uint32_t choose_any(struct explorer *x, const struct plan *p, uint32_t node);

#endif
