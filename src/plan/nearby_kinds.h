/* nearby_kinds.h -- the kinds of values that nearby_call() works out, one function for each. */
#ifndef PLAN_NEARBY_KINDS_H
#define PLAN_NEARBY_KINDS_H

#include "plan/nearby.h"

/* What the values of one call are worked out from. Arguments in front of the one that is asked for
 * have their values already. */
struct nearby {
	const struct universe *universe;
	const struct state *state;
	struct call *call;
	struct arena *arena;
	uint64_t seed; /* differs from state to state and from call to call */
};

/* A number below `bound` that the place and the seed decide. */
uint64_t nearby_pick(const struct nearby *n, unsigned place, uint64_t bound);
/* The inode at a path from the root, symbolic links not followed; 0 if there is none. */
uint64_t nearby_find(const struct state *s, const char *path);
/* Is there no such path, but something where it would be in? */
bool nearby_is_free(const struct state *s, const char *path);
/* The inode that the call is about: that of the descriptor or path nearest in front of argument
 * number arg; 0 if there is none. */
uint64_t nearby_object(const struct nearby *n, unsigned arg);

/* Places of a path up to this one name objects that exist; the others name free ones. */
enum { EXISTING_PLACES = 5 };
/* Is there a name at all? Is one of the universe's paths free? Where it has very many, one may be.
 */
bool nearby_any_name(const struct state *s);
bool nearby_any_free(const struct universe *u, const struct state *s);

/* Each fills in argument number arg; false if the state has no value for this place. */
bool nearby_extent(const struct nearby *n, unsigned arg);
bool nearby_attribute_size(const struct nearby *n, unsigned arg);
bool nearby_path(const struct nearby *n, unsigned arg);

#endif
