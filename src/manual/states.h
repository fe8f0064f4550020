/* states.h -- the states that a search for examples begins in: prepared by at most two calls behind
 * each way to begin (values.h). Equal states are kept once, with the shortest script. */
#ifndef MANUAL_STATES_H
#define MANUAL_STATES_H

#include "base/map.h"
#include "manual/manual.h"
#include "manual/values.h"

enum { MANUAL_LINE_COST = 1000 }; /* a line more is worse than any value */

/* States that differ in flags are different, too. */
#define MANUAL_STATE_OPTIONS \
	{ \
		.fields = TREE_FIELDS_DEFAULT | TREE_FLAGS, .hashed = true, .root_mode = 0777 \
	}

struct manual_node {
	struct state state;
	struct call calls[MANUAL_LINES_MAX]; /* that lead there; texts are those of the set-ups */
	unsigned count, cost;
	bool has_user;  /* process 2 */
	unsigned round; /* for the search: of the traits that `holds` is about */
	bool holds;
};

struct manual_states {
	struct manual_node *nodes; /* short scripts first */
	size_t count;
	struct hash_map known;
};

void manual_states_prepare(struct manual_states *ret, const struct model *model,
			   const struct manual_setups *setups);
void manual_states_free(struct manual_states *s);

/* Makes a call that prepares; false if it fails, or its process is not there. */
bool manual_state_step(const struct model *model, struct state *state, const struct call *call);

/* The script of a call in that state takes the place of the example, if that is none or costs more.
 * Its texts are those of the call and the set-ups until the example owns them. */
bool manual_example_keep(struct manual_example *e, const struct manual_node *node,
			 const struct call *call, unsigned cost);
void manual_example_own(struct manual_example *e, struct arena *arena);

#endif
