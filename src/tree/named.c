/* named.c -- objects with names in a map: directory entries, extended attributes. */
#include "tree/named.h"

#include "base/must.h"

void named_put(struct pmap *m, const struct named_kind *kind, struct ref *object)
{
	uint64_t key;

	named_seek(m, kind, named_name(object, kind), named_len(object, kind), &key);
	pmap_put(m, kind->type, key, object);
}

void named_remove(struct pmap *m, const struct named_kind *kind, const char *name, size_t len)
{
	uint64_t gap, key;
	struct ref *object = named_seek(m, kind, name, len, &gap);

	must(object);
	pmap_remove(m, kind->type, gap);
	for (key = (gap + 1) & named_key_mask; (object = pmap_get(m, key));
	     key = (key + 1) & named_key_mask) {
		uint64_t home = named_key(named_name(object, kind), named_len(object, kind));

		if (((key - home) & named_key_mask) < ((key - gap) & named_key_mask))
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
