/* recent.c -- what the last calls of a search answered. */
#include "explore/recent.h"

void recent_forget(struct recent *r)
{
	for (size_t i = 0; i < RECENT_MAX; i++)
		r->ring[i].known = false;
}

void recent_add(struct recent *r, size_t at, const struct outcome *seen)
{
	struct recent_outcome *slot = &r->ring[at % RECENT_MAX];

	if (!at)
		recent_forget(r);
	slot->at = at;
	slot->known = seen->len <= RECENT_BYTES_MAX;
	if (!slot->known)
		return;
	slot->outcome = *seen;
	if (!seen->bytes)
		return;
	buf_clear(&slot->bytes);
	buf_add(&slot->bytes, seen->bytes, seen->len);
	slot->outcome.bytes = buf_str(&slot->bytes);
}

const struct outcome *recent_get(const struct recent *r, size_t at)
{
	const struct recent_outcome *slot = &r->ring[at % RECENT_MAX];

	return slot->known && slot->at == at ? &slot->outcome : NULL;
}

void recent_free(struct recent *r)
{
	for (size_t i = 0; i < RECENT_MAX; i++)
		buf_free(&r->ring[i].bytes);
}
