/* saves.c -- saved images by key. */
#include "target/saves.h"

#include <stdlib.h>

#include "base/must.h"

struct save {
	struct ref ref;
	struct snapshot *snapshot;
};

static void free_save(struct ref *object)
{
	struct save *save = (struct save *)object;

	snapshot_free(save->snapshot);
	free(save);
}

/* They are put and dropped, never changed: nothing copies one. */
static const struct pmap_type save_type = { .free = free_save };

void saves_put(struct saves *s, uint64_t key, struct snapshot *snapshot)
{
	struct save *save = must_alloc(sizeof(*save));

	*save = (struct save){ { 1 }, snapshot };
	pmap_put(&s->map, &save_type, key, &save->ref);
}

const struct snapshot *saves_get(const struct saves *s, uint64_t key)
{
	const struct save *save = (const struct save *)pmap_get(&s->map, key);

	return save ? save->snapshot : NULL;
}

void saves_drop(struct saves *s, uint64_t key)
{
	pmap_remove(&s->map, &save_type, key);
}

void saves_free(struct saves *s)
{
	pmap_drop(&s->map, &save_type);
}
