/* canonical.c -- the hash of a tree up to renaming within a pool of names.
 *
 * Two trees are alike if renaming the names of the pool among themselves, wherever they stand as
 * a whole name or as a component of a link's target, makes one the other. The canonical hash is
 * the least over all ways to give the k pool names a tree uses the first k names of the pool:
 * trees that are alike go through the same k! trees. Each way costs three short hashes a name. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "tree/inode.h"

enum { NAMES_MAX = 8, FOREIGN = NAMES_MAX };

/* A name in the tree; a directory's comes before those below it. */
struct spot {
	size_t dir; /* index of the object it is in */
	size_t object;
	unsigned name; /* index into the pool, FOREIGN: none of it */
	const struct entry *entry;
};

struct canon {
	const struct tree *tree;
	const char *const *names;
	size_t name_count;
	size_t name_len[NAMES_MAX];
	unsigned used[NAMES_MAX], used_count; /* pool names that occur */
	unsigned to[NAMES_MAX];               /* the renaming in question */

	const struct inode **objects;
	struct hash *places;
	size_t object_count, cap;
	struct spot *spots;
	size_t spot_count, spot_cap;
	struct buf target;
};

static unsigned pool_index(const struct canon *c, const char *name, size_t len)
{
	for (unsigned i = 0; i < c->name_count; i++) {
		if (c->name_len[i] == len && memcmp(c->names[i], name, len) == 0)
			return i;
	}
	return FOREIGN;
}

static unsigned use_name(struct canon *c, const char *name, size_t len)
{
	unsigned index = pool_index(c, name, len);

	for (unsigned i = 0; i < c->used_count; i++) {
		if (c->used[i] == index)
			return index;
	}
	if (index != FOREIGN)
		c->used[c->used_count++] = index;
	return index;
}

static void use_target(struct canon *c, const struct blob *target)
{
	for (size_t at = 0, len; at <= target->len; at += len + 1) {
		len = strcspn(target->bytes + at, "/");
		use_name(c, target->bytes + at, len);
	}
}

static size_t add_object(struct canon *c, const struct inode *inode)
{
	/* A second name is rare, and trees whose symmetry matters are small. */
	for (size_t i = 0; inode->nlink > 1 && !S_ISDIR(inode->mode) && i < c->object_count; i++) {
		if (c->objects[i] == inode)
			return i;
	}
	if (c->object_count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 32;
		c->objects = must_realloc(c->objects, c->cap * sizeof(*c->objects));
	}
	if (S_ISLNK(inode->mode) && inode->target)
		use_target(c, inode->target);
	c->objects[c->object_count] = inode;
	return c->object_count++;
}

static void add_spots(struct canon *c, size_t dir)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(c->tree, c->objects[dir]->ino, &cookie))) {
		const struct inode *inode = tree_inode(c->tree, entry->ino);
		size_t object = add_object(c, inode);

		if (c->spot_count == c->spot_cap) {
			c->spot_cap = c->spot_cap ? 2 * c->spot_cap : 32;
			c->spots = must_realloc(c->spots, c->spot_cap * sizeof(*c->spots));
		}
		c->spots[c->spot_count++] =
			(struct spot){ dir, object, use_name(c, entry->name, entry->len), entry };
	}
}

/* The link with its target's names renamed. */
static struct hash link_term(struct canon *c, const struct inode *inode, struct hash places)
{
	struct inode renamed = *inode;
	const struct blob *target = inode->target;
	struct hash term;

	buf_clear(&c->target);
	for (size_t at = 0, len; at <= target->len; at += len + 1) {
		unsigned name;

		len = strcspn(target->bytes + at, "/");
		name = pool_index(c, target->bytes + at, len);
		if (at)
			buf_addch(&c->target, '/');
		if (name == FOREIGN)
			buf_add(&c->target, target->bytes + at, len);
		else
			buf_adds(&c->target, c->names[c->to[name]]);
	}
	renamed.size = c->target.len;
	renamed.target = blob_new(c->target.data, c->target.len);
	term = inode_term(&renamed, c->tree->fields, places);
	blob_drop(renamed.target);
	return term;
}

/* The tree's hash under the renaming c->to. */
static struct hash renamed_hash(struct canon *c)
{
	struct hash sum = { 0, 0 };

	memset(c->places, 0, c->object_count * sizeof(*c->places));
	for (size_t i = 0; i < c->spot_count; i++) {
		const struct spot *spot = &c->spots[i];
		struct hash *places = &c->places[spot->object], path = c->places[spot->dir];
		unsigned to = spot->name == FOREIGN ? 0 : c->to[spot->name];

		*places = hash_add(*places,
				   spot->name == FOREIGN
					   ? place_hash(path, spot->entry->name, spot->entry->len)
					   : place_hash(path, c->names[to], c->name_len[to]));
	}
	for (size_t i = 0; i < c->object_count; i++) {
		const struct inode *inode = c->objects[i];

		sum = hash_add(sum, S_ISLNK(inode->mode) && inode->target
					    ? link_term(c, inode, c->places[i])
					    : inode_term(inode, c->tree->fields, c->places[i]));
	}
	return sum;
}

static bool hash_less(struct hash a, struct hash b)
{
	return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

/* Tries all ways to give the names from used[next] on what is left of the first names. */
static void try_renamings(struct canon *c, unsigned next, unsigned taken, struct hash *least)
{
	if (next == c->used_count) {
		struct hash hash = renamed_hash(c);

		if (hash_less(hash, *least))
			*least = hash;
		return;
	}
	for (unsigned i = 0; i < c->used_count; i++) {
		if (taken >> i & 1)
			continue;
		c->to[c->used[next]] = i;
		try_renamings(c, next + 1, taken | 1u << i, least);
	}
}

struct hash tree_canonical_hash(const struct tree *t, const char *const *names, size_t count)
{
	struct canon c = { .tree = t, .names = names, .name_count = count };
	struct hash least = { UINT64_MAX, UINT64_MAX };

	must(count <= NAMES_MAX && t->hashed && !t->edited);
	for (size_t i = 0; i < count; i++)
		c.name_len[i] = strlen(names[i]);
	add_object(&c, tree_inode(t, TREE_ROOT));
	for (size_t i = 0; i < c.object_count; i++) { /* more come meanwhile */
		if (S_ISDIR(c.objects[i]->mode))
			add_spots(&c, i);
	}
	c.places = must_alloc(c.object_count * sizeof(*c.places));
	try_renamings(&c, 0, 0, &least);
	free(c.objects);
	free(c.places);
	free(c.spots);
	buf_free(&c.target);
	return least;
}
