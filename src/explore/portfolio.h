/* portfolio.h -- several searches of one target that take turns.
 *
 * No profile and no strategy is best for every file system and every bug. A portfolio gives each of
 * its searches a share of the calls, and shifts half of them toward those that yield the most: new
 * features of states, new outcomes, new code, for what their calls cost. Turns are counted in
 * calls, so that the same seed makes the same calls; only on a slow target a turn ends by the
 * clock. */
#ifndef EXPLORE_PORTFOLIO_H
#define EXPLORE_PORTFOLIO_H

#include "explore/explore.h"

enum { PORTFOLIO_MAX = 24 };

/* One search of a portfolio. */
struct portfolio_search {
	const char *profile;
	enum strategy strategy;
	unsigned unseen_calls; /* explore_options */
	struct universe universe;
};

/* The searches that suit a target, by profile and strategy; universes are for the caller to open.
 * profile: only those in this one; NULL: in every shipped profile that is meant for all targets.
 * walks_only: no search that branches. Returns how many. */
size_t portfolio_list(const struct target *t, const char *profile, bool walks_only,
		      struct portfolio_search ret[PORTFOLIO_MAX]);

/* The same as explore(), by all these searches; o->strategy does not count. The run's figures get a
 * row for each. */
int explore_portfolio(const struct explore_options *o, struct portfolio_search *searches,
		      size_t count, struct target *t, struct run *run, struct cover *cover,
		      struct explore_figures *ret, struct err *err);

#endif
