/* hash_set.c -- open addressing with linear probing, in parts.
 *
 * The place of a key is its share of the largest number, so that a part that grows is read and
 * written from one end to the other. */
#include "base/hash_set.h"

#include <stdlib.h>

#include "base/must.h"

enum { CAP_MIN = 16 };

static uint64_t *part_find(const struct hash_set_part *p, uint64_t key)
{
	size_t i = (size_t)((unsigned __int128)key * p->cap >> 64);

	while (p->keys[i] && p->keys[i] != key)
		i = i + 1 < p->cap ? i + 1 : 0;
	return &p->keys[i];
}

static void part_grow(struct hash_set_part *p)
{
	struct hash_set_part old = *p;

	p->cap = old.cap ? old.cap + old.cap / 8 * 3 : CAP_MIN;
	p->keys = must_alloc(p->cap * sizeof(*p->keys));
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.keys[i])
			*part_find(p, old.keys[i]) = old.keys[i];
	free(old.keys);
}

void hash_set_expect(const struct hash_set *s, struct hash hash)
{
	const struct hash_set_part *p = &s->parts[hash.hi % HASH_SET_PARTS];

	__builtin_prefetch(p->keys + (size_t)((unsigned __int128)hash.lo * p->cap >> 64), 1);
}

bool hash_set_add(struct hash_set *s, struct hash hash)
{
	struct hash_set_part *p = &s->parts[hash.hi % HASH_SET_PARTS];
	uint64_t key = hash.lo ? hash.lo : 1, *slot;

	if (p->count >= p->cap / 10 * 9)
		part_grow(p);
	slot = part_find(p, key);
	if (*slot)
		return false;
	*slot = key;
	p->count++;
	s->count++;
	return true;
}

void hash_set_free(struct hash_set *s)
{
	for (size_t i = 0; i < HASH_SET_PARTS; i++)
		free(s->parts[i].keys);
	*s = (struct hash_set){ 0 };
}
