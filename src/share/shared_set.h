/* shared_set.h -- an exact set of hashes in memory that processes share, without locks.
 *
 * It is inherited by fork() and vanishes with the last process. Any of them may be killed at any
 * moment: what it was adding is then there or not, and the others are not held up.
 *
 * Members are only added. The place of a hash is the first free one in a fixed sequence: a group of
 * slots on each of several levels, every level twice as large as the one before. So a set touches
 * 1.1 to 2.2 times the memory that its members take, and two processes that add the same hash meet
 * in the same slot.
 */
#ifndef SHARE_SHARED_SET_H
#define SHARE_SHARED_SET_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/hash.h"

struct shared_slot {
	_Atomic uint64_t lo, hi; /* 0: free */
};

struct shared_set {
	struct shared_slot *slots;
	_Atomic uint16_t *owners; /* by slot; 0: none */
	_Atomic uint8_t *used;    /* by page of slots: it may have some that are not free */
	unsigned levels;
	size_t count; /* of slots: those that the last level leaves of the memory are its */
	size_t bytes;
};

enum { SHARED_SET_NONE = -1 };

/* At most so many bytes of memory, less where the machine refuses them; they are used as the set
 * grows. */
int shared_set_open(struct shared_set *s, uint64_t bytes, struct err *err);
void shared_set_close(struct shared_set *s);
/* The slot of the hash, added where absent; SHARED_SET_NONE: there is no room. *ret_new: this call
 * has added it, and no other one did. */
int64_t shared_set_put(struct shared_set *s, struct hash h, bool *ret_new);
/* How many there are, and the sum of their hashes: of as many as were added before the call. */
uint64_t shared_set_count(const struct shared_set *s, struct hash *ret_sum);

#endif
