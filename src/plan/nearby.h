/* nearby.h -- values of calls that follow from the state in which a call is made.
 *
 * A bug that needs a value next to the end of a file's data, or two lengths within one block, is
 * not found by values that a profile lists. Where a profile says "nearby", a universe has a number
 * of places for a value instead of values (struct arg, `nearby`). What a place means follows from
 * the place and the state alone: the same calls from the same start are the same calls again. Two
 * states with the same hash may differ in which zeros are allocated, and so may the values there.
 *
 * | kind                  | values                                                             |
 * |-----------------------|--------------------------------------------------------------------|
 * | offset, length, count | at, beside and between the ends of the file's data, holes, blocks, |
 * |                       | descriptors' offsets and the sizes of other files; of attributes,  |
 * |                       | sizes that exist and sizes that nearly fill an inode or a block    |
 * | path                  | objects that exist, and names that are free in a directory         |
 * | fd, dirfd, dh, map    | what is open or mapped                                             |
 * | xattr_name            | attributes that exist                                              |
 *
 * A state may have fewer values than places: then the other places have none. */
#ifndef PLAN_NEARBY_H
#define PLAN_NEARBY_H

#include "base/arena.h"
#include "state/state.h"
#include "universe/universe.h"

/* Call number n of the universe, as it is made in this state. Text that is not the universe's goes
 * to the arena. False if this state has no value for one of its places. */
bool nearby_call(const struct universe *u, uint64_t n, const struct state *s, struct arena *arena,
		 struct call *ret);
/* What was last found out about the names of a tree, from one draw to the next. */
struct nearby_names {
	struct hash tree;
	bool known, any, any_free;
};
/* Draws a call by weight, of those operations and values that may have their places: a draw that
 * names a descriptor, stream, mapping or path that is not there is dropped, and another one made,
 * as if it had been drawn and found to be impossible. False if there was none among a number of
 * draws. */
bool nearby_draw(const struct universe *u, const struct state *s, struct nearby_names *names,
		 struct rng *rng, uint64_t *ret);
/* The same of one operation (index into u->ops). */
bool nearby_draw_of(const struct universe *u, size_t op, const struct state *s,
		    struct nearby_names *names, struct rng *rng, uint64_t *ret);

#endif
