/* named.h -- objects with names in a map: directory entries, extended attributes.
 *
 * The key is a hash of the name, NAME_KEY_BITS wide. Where two names have the same, the later
 * one takes the next free key: a search continues until a key is free, and a removal closes the
 * gap it leaves by moving back what had been pushed past it. */
#ifndef TREE_NAMED_H
#define TREE_NAMED_H

#include "tree/pmap.h"

/* Where objects of one kind keep their name and its length (uint32_t). */
struct named_kind {
	const struct pmap_type *type;
	size_t len_at, name_at;
};

struct ref *named_find(const struct pmap *m, const struct named_kind *kind, const char *name,
		       size_t len);
/* Puts the object (taking over the caller's count) in place of one of the same name. */
void named_put(struct pmap *m, const struct named_kind *kind, struct ref *object);
/* The object must be there. */
void named_remove(struct pmap *m, const struct named_kind *kind, const char *name, size_t len);
/* The object after *cookie, which is 0 at first and below 2^61; NULL at the end. */
struct ref *named_next(const struct pmap *m, uint64_t *cookie);

#endif
