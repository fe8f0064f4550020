/* named.c -- objects with names in a map: directory entries, extended attributes. */
#include "tree/named.h"

#include <string.h>

#include "base/hash.h"
#include "base/must.h"

/* The four highest bits are free, so that cookies are positive and 0 means the beginning. A test
 * of collisions makes it narrow. */
#ifndef NAME_KEY_BITS
#define NAME_KEY_BITS 60
#endif

static const uint64_t key_mask = ((uint64_t)1 << NAME_KEY_BITS) - 1;

static uint64_t name_key(const char *name, size_t len)
{
	return hash64(name, len, 0) & key_mask;
}

static const char *object_name(const struct ref *object, const struct named_kind *kind)
{
	return (const char *)object + kind->name_at;
}

static size_t len_of(const struct ref *object, const struct named_kind *kind)
{
	uint32_t len;

	memcpy(&len, (const char *)object + kind->len_at, sizeof(len));
	return len;
}

/* The object of that name and its key, or NULL and the key it would get. */
static struct ref *named_seek(const struct pmap *m, const struct named_kind *kind, const char *name,
			      size_t len, uint64_t *ret_key)
{
	uint64_t key = name_key(name, len);

	for (;; key = (key + 1) & key_mask) {
		struct ref *object = pmap_get(m, key);

		if (!object || (len_of(object, kind) == len &&
				memcmp(object_name(object, kind), name, len) == 0)) {
			*ret_key = key;
			return object;
		}
	}
}

struct ref *named_find(const struct pmap *m, const struct named_kind *kind, const char *name,
		       size_t len)
{
	uint64_t key;

	return named_seek(m, kind, name, len, &key);
}

void named_put(struct pmap *m, const struct named_kind *kind, struct ref *object)
{
	uint64_t key;

	named_seek(m, kind, object_name(object, kind), len_of(object, kind), &key);
	pmap_put(m, kind->type, key, object);
}

void named_remove(struct pmap *m, const struct named_kind *kind, const char *name, size_t len)
{
	uint64_t gap, key;
	struct ref *object = named_seek(m, kind, name, len, &gap);

	must(object);
	pmap_remove(m, kind->type, gap);
	for (key = (gap + 1) & key_mask; (object = pmap_get(m, key)); key = (key + 1) & key_mask) {
		uint64_t home = name_key(object_name(object, kind), len_of(object, kind));

		if (((key - home) & key_mask) < ((key - gap) & key_mask))
			continue; /* its search does not pass the gap */
		object->count++;
		pmap_remove(m, kind->type, key);
		pmap_put(m, kind->type, gap, object);
		gap = key;
	}
}

struct ref *named_next(const struct pmap *m, uint64_t *cookie)
{
	uint64_t key = *cookie ? pmap_unorder((*cookie - 1) << 4) : 0;
	struct ref *object = pmap_next(m, *cookie == 0, &key);

	if (object)
		*cookie = (pmap_order(key) >> 4) + 1;
	return object;
}
