/* named.h -- objects with names in a map: directory entries, extended attributes.
 *
 * The key is a hash of the name, NAME_KEY_BITS wide. Where two names have the same, the later
 * one takes the next free key: a search continues until a key is free, and a removal closes the
 * gap it leaves by moving back what had been pushed past it. */
#ifndef TREE_NAMED_H
#define TREE_NAMED_H

#include <string.h>

#include "base/hash.h"
#include "tree/pmap.h"

/* Where objects of one kind keep their name and its length (uint32_t). */
struct named_kind {
	const struct pmap_type *type;
	size_t len_at, name_at;
};

/* The four highest bits are free, so that cookies are positive and 0 means the beginning. A test
 * of collisions makes it narrow. */
#ifndef NAME_KEY_BITS
#define NAME_KEY_BITS 60
#endif

static const uint64_t named_key_mask = ((uint64_t)1 << NAME_KEY_BITS) - 1;

static inline uint64_t named_key(const char *name, size_t len)
{
	return hash64(name, len, 0) & named_key_mask;
}

static inline const char *named_name(const struct ref *object, const struct named_kind *kind)
{
	return (const char *)object + kind->name_at;
}

static inline size_t named_len(const struct ref *object, const struct named_kind *kind)
{
	uint32_t len;

	memcpy(&len, (const char *)object + kind->len_at, sizeof(len));
	return len;
}

/* The object of that name and its key, or NULL and the key it would get. Here, so that it is
 * compiled for one kind: a path is walked with it. */
static inline struct ref *named_seek(const struct pmap *m, const struct named_kind *kind,
				     const char *name, size_t len, uint64_t *ret_key)
{
	uint64_t key = named_key(name, len);

	for (;; key = (key + 1) & named_key_mask) {
		struct ref *object = pmap_get(m, key);

		if (!object || (named_len(object, kind) == len &&
				memcmp(named_name(object, kind), name, len) == 0)) {
			*ret_key = key;
			return object;
		}
	}
}

static inline struct ref *named_find(const struct pmap *m, const struct named_kind *kind,
				     const char *name, size_t len)
{
	uint64_t key;

	return named_seek(m, kind, name, len, &key);
}

/* Puts the object (taking over the caller's count) in place of one of the same name. */
void named_put(struct pmap *m, const struct named_kind *kind, struct ref *object);
/* The object must be there. */
void named_remove(struct pmap *m, const struct named_kind *kind, const char *name, size_t len);
/* The object after *cookie, which is 0 at first and below 2^61; NULL at the end. */
struct ref *named_next(const struct pmap *m, uint64_t *cookie);

#endif
