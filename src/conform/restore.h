/* restore.h -- the calls that take a state back to the one of a fresh file system. */
#ifndef CONFORM_RESTORE_H
#define CONFORM_RESTORE_H

#include "base/arena.h"
#include "op/op.h"
#include "state/state.h"

struct call_list {
	struct call *items;
	size_t count, cap;
};

/* Descriptors and streams are closed, working directories and masks of all processes as at the
 * start. Processes stay. */
void restore_processes(const struct state *s, struct call_list *list, struct arena *arena);
/* Everything below the root is removed, and the root as it was. */
void restore_tree(const struct state *s, const struct state *initial, struct call_list *list,
		  struct arena *arena);

/* Do the numbers of links agree with the names? The model relies on that. */
bool tree_is_sound(const struct tree *t);

#endif
