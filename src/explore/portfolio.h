/* portfolio.h -- several searches of one file system that take turns.
 *
 * No profile and no strategy is best for every file system and every bug. A portfolio gives each of
 * its searches a share of the calls, and shifts half of them toward those that yield the most: new
 * features of states, new outcomes, new code, for what their calls cost. Turns are counted in
 * calls, so that the same seed makes the same calls; only on a slow target a turn ends by the
 * clock.
 *
 * Many bugs need another configuration of the file system: smaller blocks, data within inodes, no
 * journal. Variants of the target (target_variants) have searches in the portfolio, too; the target
 * itself keeps at least half of the turns that do not go by yield. */
#ifndef EXPLORE_PORTFOLIO_H
#define EXPLORE_PORTFOLIO_H

#include "explore/explore.h"

/* Searches of the target itself, variants of it, searches of each. */
enum { PORTFOLIO_OWN_MAX = 24, PORTFOLIO_VARIANTS = 8, PORTFOLIO_VARIANT_MAX = 8 };
enum { PORTFOLIO_MAX = PORTFOLIO_OWN_MAX + PORTFOLIO_VARIANTS * PORTFOLIO_VARIANT_MAX };

/* One search of a portfolio. */
struct portfolio_search {
	const char *profile;
	enum strategy strategy;
	unsigned unseen_calls; /* explore_options */
	size_t variant; /* 0: of the target itself; else of explore_options.variants, from 1 */
	struct universe universe;
};

/* The searches that suit a target, by profile and strategy; universes are for the caller to open.
 * profile: only those in this one; NULL: in every shipped profile that is meant for all targets.
 * walks_only: no search that branches. Returns how many. */
size_t portfolio_list(const struct target *t, const char *profile, bool walks_only,
		      struct portfolio_search ret[PORTFOLIO_MAX]);

/* Adds the searches of so many variants behind the `count` of the target itself. Returns how many
 * there are then. */
size_t portfolio_list_variants(size_t variants, struct portfolio_search *list, size_t count);

/* The same as explore(), by all these searches; o->strategy does not count. The run's figures get a
 * row for each. */
int explore_portfolio(const struct explore_options *o, struct portfolio_search *searches,
		      size_t count, struct target *t, struct run *run, struct cover *cover,
		      struct explore_figures *ret, struct err *err);

#endif
