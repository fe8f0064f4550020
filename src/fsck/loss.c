/* loss.c -- what a repair has lost. */
#include "fsck/loss.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/must.h"

enum { PATHS_TOLD = 8 };

/* How often each content is there. */
static void count_contents(struct hash_map *counts, const struct contents *c)
{
	for (size_t i = 0; i < c->count; i++)
		++*hash_map_put(counts, c->items[i].hash, NULL);
}

/* Whether it was there once more; then it is there once less. */
static bool take_content(struct hash_map *counts, struct hash content)
{
	uint64_t *there = hash_map_get(counts, content);

	if (!there || !*there)
		return false;
	--*there;
	return true;
}

static bool path_is_in(const char *path, const char *touched)
{
	size_t len = strlen(touched);

	if (!strncmp(touched, "...", 3))
		return strstr(path, touched + 3) != NULL;
	return len && !strncmp(path, touched, len) &&
	       (touched[len - 1] == '/' || !path[len] || path[len] == '/');
}

/* By any of its names. */
static bool is_touched(const struct content *object, const struct corruption *c)
{
	struct buf damaged = BUF_INIT;
	bool touched = false;

	for (size_t k = 0; k < c->count && !touched; k++) {
		buf_clear(&damaged);
		corruption_path(&c->changes[k], &damaged);
		for (const char *name = object->names_nul; *name; name += strlen(name) + 1)
			touched |= path_is_in(name, buf_str(&damaged));
	}
	buf_free(&damaged);
	return touched;
}

uint64_t loss_count(const struct contents *before, const struct contents *after,
		    const struct corruption *c, uint64_t *ret_touched, struct buf *out)
{
	struct hash_map left = HASH_MAP_INIT;
	bool *touched = must_alloc(before->count + 1), *named = must_alloc(before->count + 1);
	uint64_t lost = 0;

	*ret_touched = 0;
	count_contents(&left, after);
	for (size_t i = 0; i < before->count; i++)
		touched[i] = is_touched(&before->items[i], c);
	/* Of several with the same content, those are there that have their names, and one that was
	 * damaged is missing before any other. */
	for (size_t i = 0; i < before->count; i++) {
		named[i] = !touched[i] && contents_have_named(after, &before->items[i]);
		if (named[i])
			take_content(&left, before->items[i].hash);
	}
	for (size_t i = 0; i < before->count; i++)
		if (!touched[i] && !named[i] && !take_content(&left, before->items[i].hash) &&
		    lost++ < PATHS_TOLD)
			buf_addf(out, "%s\n", before->items[i].names_nul);
	for (size_t i = 0; i < before->count; i++)
		*ret_touched += touched[i] && !take_content(&left, before->items[i].hash);
	free(touched);
	free(named);
	if (lost > PATHS_TOLD)
		buf_addf(out, "and %llu more\n", (unsigned long long)(lost - PATHS_TOLD));
	hash_map_free(&left);
	return lost;
}
