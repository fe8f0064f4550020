/* recent.h -- what the last calls of a search answered: evidence for what no replay shows.
 *
 * A copy of each outcome, in a ring; it costs nothing beside the call itself. */
#ifndef EXPLORE_RECENT_H
#define EXPLORE_RECENT_H

#include "base/buf.h"
#include "op/op.h"

enum { RECENT_MAX = 64, RECENT_BYTES_MAX = 1 << 16 };

struct recent {
	struct recent_outcome {
		size_t at; /* of the call in the history */
		bool known;
		struct outcome outcome;
		struct buf bytes;
	} ring[RECENT_MAX];
};

/* The outcome of call number `at` of the history, after that of `at - 1`; with number 0 a history
 * starts over. One with very many bytes is not kept. */
void recent_add(struct recent *r, size_t at, const struct outcome *seen);
/* What it was; NULL if that is not known. */
const struct outcome *recent_get(const struct recent *r, size_t at);
/* The history is another one now. */
void recent_forget(struct recent *r);
void recent_free(struct recent *r);

#endif
