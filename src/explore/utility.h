/* utility.h -- how much a state promises: the rarer its features, the more. */
#ifndef EXPLORE_UTILITY_H
#define EXPLORE_UTILITY_H

#include "base/hash_set.h"
#include "base/map.h"
#include "state/state.h"

struct utility {
	struct hash_map seen;   /* by features: how many states had them */
	struct hash_set shapes; /* the same without what is dirty, of states that were reached */
};

/* A state was reached. True if it is the first with its features. Of large trees only some are
 * looked at. */
bool utility_add(struct utility *u, const struct state *s);

/* dirty: calls since the last sync that changed something: what recovery would have to do. */
double utility_score(struct utility *u, const struct state *s, unsigned dirty);
void utility_free(struct utility *u);

#endif
