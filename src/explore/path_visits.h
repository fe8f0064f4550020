/* path_visits.h -- states that a search reaches are shown to another instrument, by the calls that
 * lead to them.
 *
 * What that does takes longer than a call by orders of magnitude, so it gets a share of the time:
 * states of a shape that was not shown yet come first, others as well while there is time. */
#ifndef EXPLORE_PATH_VISITS_H
#define EXPLORE_PATH_VISITS_H

#include "base/map.h"
#include "explore/utility.h"

struct err;
struct explorer;

struct path_visits {
	struct utility shapes; /* of states that were shown */
	struct hash_map shown; /* states */
	double started_seconds;
	uint64_t count, us; /* explore_figures: visits, visit_us */
};

void path_visits_begin(struct path_visits *v);
void path_visits_free(struct path_visits *v);
/* To be called where the targets are in x->state. 0 or a negative errno. */
int path_visits_look(struct path_visits *v, struct explorer *x, struct err *err);

#endif
