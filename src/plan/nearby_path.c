/* nearby_path.c -- objects that exist, and names that are free in a directory that exists. */
#include <string.h>

#include "base/buf.h"
#include "plan/nearby_kinds.h"

enum { FREE_TRIES = 16, PATHS_LOOKED_AT = 64, DEPTH_MAX = 64 };

/* An entry of a directory, by chance; NULL if it has none. */
static const struct entry *path_some_entry(const struct nearby *n, uint64_t dir, unsigned place)
{
	uint64_t cookie = nearby_pick(n, place, (uint64_t)1 << 61);
	const struct entry *entry = tree_next_entry(&n->state->tree, dir, &cookie);

	if (entry)
		return entry;
	cookie = 0;
	return tree_next_entry(&n->state->tree, dir, &cookie);
}

/* Down from the root, at every directory by chance into it or not. */
static bool path_existing(const struct nearby *n, unsigned place, struct buf *out)
{
	const struct inode *inode = tree_inode(&n->state->tree, TREE_ROOT);
	const struct entry *entry;

	for (unsigned depth = 0; depth < DEPTH_MAX && S_ISDIR(inode->mode); depth++) {
		/* Each level, and whether to end there, by another number. */
		unsigned turn = place + depth * 16;

		if (depth && !nearby_pick(n, turn + 8, 2))
			break;
		entry = path_some_entry(n, inode->ino, turn);
		if (!entry)
			break;
		if (depth)
			buf_add(out, "/", 1);
		buf_add(out, entry->name, entry->len);
		inode = tree_inode(&n->state->tree, entry->ino);
	}
	return out->len > 0;
}

/* A path of the universe that does not exist, in a directory that does. */
static bool path_free(const struct nearby *n, unsigned place, struct arg *to)
{
	const struct pool *paths = &n->universe->paths;

	for (unsigned i = 0; i < FREE_TRIES; i++) {
		const struct arg *path =
			&paths->values[nearby_pick(n, place + i * 16, paths->count)];

		if (nearby_is_free(n->state, path->text)) {
			to->text = path->text;
			to->len = path->len;
			return true;
		}
	}
	return false;
}

bool nearby_any_name(const struct state *s)
{
	uint64_t cookie = 0;

	return tree_next_entry(&s->tree, TREE_ROOT, &cookie);
}

bool nearby_any_free(const struct universe *u, const struct state *s)
{
	for (size_t i = 0; i < u->paths.count && i < PATHS_LOOKED_AT; i++)
		if (nearby_is_free(s, u->paths.values[i].text))
			return true;
	return u->paths.count > PATHS_LOOKED_AT;
}

bool nearby_path(const struct nearby *n, unsigned arg)
{
	struct arg *to = &n->call->arg[arg];
	unsigned place = to->nearby - 1u;
	struct buf path = BUF_INIT;
	bool found;

	if (place >= EXISTING_PLACES)
		return path_free(n, place, to);
	found = path_existing(n, place, &path);
	if (found) {
		to->text = arena_copy(n->arena, path.data, path.len);
		to->len = (uint32_t)path.len;
	}
	buf_free(&path);
	return found;
}
