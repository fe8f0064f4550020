/* share.h -- what the workers of one search share: which work is taken, states that are counted
 * once, and work that one gives to another.
 *
 * A piece of work (a state to try calls in, or a part of its calls) is known by a hash. A worker
 * that has taken it does it; the others step over it. What a worker that died had taken is free
 * again: its edges are tried once more by any worker that knows the state, so that nothing behind
 * them is lost.
 *
 * Two kinds: memory.c for processes of one machine, src/swarm for many machines. */
#ifndef SHARE_SHARE_H
#define SHARE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

struct share {
	const struct share_ops *ops;
};

/* Bytes of a piece of work that is given. */
enum { SHARE_ITEM_MAX = 16 << 10 };

enum share_wait { SHARE_GOT, SHARE_LOOK_AGAIN, SHARE_NOTHING_LEFT, SHARE_NOTHING_YET };

/* Functions that return an int: 0 or a negative errno; -ENOSPC where there is no room for more,
 * after which the search can only end. */
struct share_ops {
	/* A piece of work that this worker may ask for soon: what has to be asked far away is asked
	 * ahead, many at a time. */
	void (*announce)(struct share *s, struct hash work);
	/* Takes it. *ret_mine: no other worker that lives has it. */
	int (*take)(struct share *s, struct hash work, bool *ret_mine, struct err *err);
	/* This worker had taken it and cannot do it: it is free again, for others. */
	int (*release)(struct share *s, struct hash work, struct err *err);
	/* Counts a state once among all workers; `counted` is how many there are. */
	int (*count)(struct share *s, struct hash state, struct err *err);
	int (*counted)(struct share *s, uint64_t *ret, struct err *err);
	/* Changes when work that others had taken is free again: they may be asked for once more.
	 */
	uint64_t (*freed)(struct share *s);
	/* Do more workers wait for work than there are pieces given? */
	bool (*is_wanted)(struct share *s);
	/* Gives away a piece of work this worker had taken, as bytes (the calls that lead to it).
	 * -EAGAIN: there is no room now, it stays with this worker. */
	int (*give)(struct share *s, struct hash work, const void *item, size_t len,
		    struct err *err);
	/* Nothing is left to do here: waits for what another gives (SHARE_GOT, the work is taken),
	 * for work that became free (SHARE_LOOK_AGAIN), or until all wait and nothing is left; at
	 * most so long, 0 only looks (SHARE_NOTHING_YET). The worker counts as waiting from then on
	 * until it gets something or is to look again. May return before its time. */
	int (*wait)(struct share *s, double seconds, struct buf *ret_item, enum share_wait *ret,
		    struct err *err);
	void (*close)(struct share *s);
};

#endif
