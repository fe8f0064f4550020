/* saved_list.h -- the open states that the target keeps saved: a bounded number of them.
 *
 * A saved state costs the target memory, a process or an image. Where there is no room for all,
 * those are kept whose turn comes soonest; the others are reached again by their calls. Costs
 * O(log n) for each change. */
#ifndef EXPLORE_SAVED_LIST_H
#define EXPLORE_SAVED_LIST_H

#include "explore/open_list.h"

struct saved_list {
	const struct open_list *list;
	struct open_state **items; /* a heap: the one whose turn comes last is first */
	size_t count, cap;
	size_t max; /* at least 1 */
};

void saved_list_add(struct saved_list *l, struct open_state *o);
void saved_list_remove(struct saved_list *l, struct open_state *o);
/* The promise of one among them has changed. */
void saved_list_update(struct saved_list *l, struct open_state *o);
/* The one whose turn comes last; NULL if there is none. */
struct open_state *saved_list_last(const struct saved_list *l);
void saved_list_free(struct saved_list *l);

#endif
