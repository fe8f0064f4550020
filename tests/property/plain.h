/* plain.h -- a file system in arrays: the slow, obvious thing the tree must agree with.
 *
 * Objects are rows, directories have one slot for each name there is, files are flat bytes.
 * Object 0 is the root. The whole is one struct, so that a snapshot is an assignment. */
#ifndef PROPERTY_PLAIN_H
#define PROPERTY_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "tests/harness/unit.h"
#include "tree/tree.h"

enum {
	OBJECTS = 12,
	NAMES = 4,
	BLOCKS = 4,
	FILE_MAX = BLOCKS * TREE_BLOCK,
	ATTRIBUTES = 3,
	NONE = -1,
};

static const char *const names[NAMES] = { "a", "b", "cc", "a longer name than the others" };
static const char *const attributes[ATTRIBUTES] = { "user.a", "user.b", "trusted.c" };
static const char ts[] = "tttttttttttttttt", vs[] = "vvvvvvvvvvvvvvvv";

struct plain_object {
	bool used;
	uint64_t ino; /* in the tree beside */
	uint32_t mode, uid;
	uint32_t holds;
	int entry[NAMES]; /* objects */
	int parent;
	uint64_t size;
	uint8_t data[FILE_MAX];
	bool allocated[BLOCKS];
	int target;                /* length of the link's target, "ttt..." */
	int attribute[ATTRIBUTES]; /* length of the value, "vvv..." */
};

struct plain {
	struct plain_object object[OBJECTS];
};

/* A free row made a new object without a name. */
static int plain_new(struct plain *p, uint32_t mode)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct plain_object *o = &p->object[i];

		if (o->used)
			continue;
		*o = (struct plain_object){ .used = true, .mode = mode };
		for (int n = 0; n < NAMES; n++)
			o->entry[n] = NONE;
		for (int a = 0; a < ATTRIBUTES; a++)
			o->attribute[a] = NONE;
		return i;
	}
	return NONE;
}

static void plain_init(struct plain *p)
{
	memset(p, 0, sizeof(*p));
	plain_new(p, S_IFDIR | 0755);
	p->object[0].ino = TREE_ROOT;
}

static bool is_dir(const struct plain *p, int object)
{
	return p->object[object].used && S_ISDIR(p->object[object].mode);
}

static unsigned plain_names_of(const struct plain *p, int object)
{
	unsigned count = 0;

	for (int dir = 0; dir < OBJECTS; dir++) {
		for (int n = 0; is_dir(p, dir) && n < NAMES; n++)
			count += p->object[dir].entry[n] == object;
	}
	return count;
}

/* As st_nlink would be. */
static unsigned plain_links(const struct plain *p, int object)
{
	unsigned links = plain_names_of(p, object);

	if (!is_dir(p, object))
		return links;
	if (!links && object)
		return 0;
	links = 2;
	for (int n = 0; n < NAMES; n++) {
		int child = p->object[object].entry[n];

		links += child != NONE && is_dir(p, child);
	}
	return links;
}

static bool plain_is_empty(const struct plain *p, int dir)
{
	for (int n = 0; n < NAMES; n++) {
		if (p->object[dir].entry[n] != NONE)
			return false;
	}
	return true;
}

/* Whether a directory is the given object or lies below it. */
static bool plain_is_within(const struct plain *p, int dir, int object)
{
	while (dir && dir != object)
		dir = p->object[dir].parent;
	return dir == object;
}

/* A directory below it was removed, but is held. */
static bool plain_has_orphan(const struct plain *p, int object)
{
	for (int i = 1; i < OBJECTS; i++)
		if (is_dir(p, i) && p->object[i].parent == object && !plain_names_of(p, i))
			return true;
	return false;
}

/* Frees the object if it has neither names nor holds, and then those above that it kept. */
static void plain_reap(struct plain *p, int object)
{
	while (object && !p->object[object].holds && !plain_names_of(p, object) &&
	       !plain_has_orphan(p, object)) {
		bool directory = is_dir(p, object);

		p->object[object].used = false;
		if (!directory)
			return;
		object = p->object[object].parent;
	}
}

/* Writes the file's bytes in pieces of any size, in no order, over rubbish. */
static void build_file(const struct plain_object *o, struct tree *t, uint64_t ino, struct rng *rng)
{
	if (rng_chance(rng, 1, 2)) {
		tree_write(t, ino, rng_below(rng, FILE_MAX), "rubbish", 7);
		tree_truncate(t, ino, 0);
	}
	tree_truncate(t, ino, o->size);
	for (int block = BLOCKS - 1; block >= 0; block--) {
		uint64_t start = (uint64_t)block * TREE_BLOCK, middle, end = start + TREE_BLOCK;

		if (!o->allocated[block])
			continue;
		tree_allocate(t, ino, start + rng_below(rng, TREE_BLOCK), 1);
		if (start >= o->size)
			continue;
		end = end < o->size ? end : o->size;
		middle = start + rng_below(rng, end - start);
		tree_write(t, ino, middle, o->data + middle, end - middle);
		tree_write(t, ino, start, o->data + start, middle - start);
	}
}

static void build_attributes(const struct plain_object *o, struct tree *t, uint64_t ino)
{
	tree_edit(t, ino)->uid = o->uid;
	tree_edit(t, ino)->mode = o->mode;
	for (int a = ATTRIBUTES - 1; a >= 0; a--) {
		if (o->attribute[a] != NONE)
			tree_set_xattr(t, ino, attributes[a], vs, o->attribute[a]);
	}
}

struct builder {
	const struct plain *plain;
	struct tree tree;
	uint64_t ino[OBJECTS]; /* 0: not yet made */
	struct rng *rng;
};

static uint64_t build_object(struct builder *b, int object)
{
	const struct plain_object *o = &b->plain->object[object];
	uint64_t ino = tree_new(&b->tree, o->mode, 0, 0, 0);

	if (S_ISREG(o->mode))
		build_file(o, &b->tree, ino, b->rng);
	if (S_ISLNK(o->mode))
		tree_set_target(&b->tree, ino, ts, o->target);
	build_attributes(o, &b->tree, ino);
	return ino;
}

/* Below a directory, now first, now last; sometimes a name is made elsewhere and moved. */
static void build_dir(struct builder *b, int dir)
{
	unsigned shift = (unsigned)rng_below(b->rng, NAMES);

	for (unsigned i = 0; i < NAMES; i++) {
		unsigned n = (i + shift) % NAMES;
		int child = b->plain->object[dir].entry[n];
		bool detour = rng_chance(b->rng, 1, 3);
		char elsewhere[2] = { (char)('A' + child), '\0' };
		const char *name = detour ? elsewhere : names[n];
		uint64_t at = detour ? TREE_ROOT : b->ino[dir];

		if (child == NONE)
			continue;
		if (!b->ino[child])
			b->ino[child] = build_object(b, child);
		tree_link(&b->tree, at, name, strlen(name), b->ino[child]);
		if (is_dir(b->plain, child) && detour)
			build_dir(b, child);
		if (rng_chance(b->rng, 1, 2))
			tree_settle(&b->tree);
		if (detour)
			tree_rename(&b->tree, at, name, strlen(name), b->ino[dir], names[n],
				    strlen(names[n]));
		if (is_dir(b->plain, child) && !detour)
			build_dir(b, child);
	}
}

/* The same contents built anew in another way, as the generator decides. */
static struct tree plain_build(const struct plain *p, struct rng *rng)
{
	struct builder b = { .plain = p, .ino = { TREE_ROOT }, .rng = rng };

	tree_init(&b.tree, TREE_FIELDS_DEFAULT, true, 0755, 0, 0);
	build_attributes(&p->object[0], &b.tree, TREE_ROOT);
	build_dir(&b, 0);
	tree_settle(&b.tree);
	return b.tree;
}

static void check_file(const struct plain_object *o, const struct tree *t)
{
	static uint8_t data[FILE_MAX + 1];
	unsigned allocated = 0;

	assert_int_equal(tree_read(t, o->ino, 0, data, sizeof(data)), o->size);
	assert_memory_equal(data, o->data, o->size);
	for (uint64_t block = 0; block < BLOCKS; block++) {
		uint64_t start = block * TREE_BLOCK;

		allocated += o->allocated[block];
		if (start < o->size) {
			assert_int_equal(tree_seek(t, o->ino, start, true) == start,
					 o->allocated[block]);
			assert_int_equal(tree_seek(t, o->ino, start, false) == start,
					 !o->allocated[block]);
		}
	}
	assert_int_equal(tree_blocks(tree_inode(t, o->ino)), allocated);
}

static void check_dir(const struct plain *p, const struct plain_object *o, const struct tree *t)
{
	unsigned count = 0, seen = 0;
	uint64_t cookie = 0;

	for (int n = 0; n < NAMES; n++) {
		const struct entry *entry = tree_find(t, o->ino, names[n], strlen(names[n]));

		assert_int_equal(entry ? entry->ino : 0,
				 o->entry[n] == NONE ? 0 : p->object[o->entry[n]].ino);
		count += entry != NULL;
	}
	while (tree_next_entry(t, o->ino, &cookie))
		seen++;
	assert_int_equal(seen, count);
}

static void check_attributes(const struct plain_object *o, const struct inode *inode)
{
	for (int a = 0; a < ATTRIBUTES; a++) {
		const struct xattr *x = tree_xattr(inode, attributes[a]);

		assert_int_equal(x ? (int)x->value_len : NONE, o->attribute[a]);
		if (x)
			assert_memory_equal(x->bytes + x->name_len + 1, vs, x->value_len);
	}
}

/* Fails the test where the tree is not like this. */
static void plain_check(const struct plain *p, const struct tree *t)
{
	unsigned objects = 0;
	uint64_t blocks = 0;

	for (int i = 0; i < OBJECTS; i++) {
		const struct plain_object *o = &p->object[i];
		const struct inode *inode;

		if (!o->used)
			continue;
		objects++;
		inode = tree_inode(t, o->ino);
		assert_non_null(inode);
		assert_int_equal(inode->mode, o->mode);
		assert_int_equal(inode->uid, o->uid);
		assert_int_equal(inode->holds, o->holds);
		assert_int_equal(inode->nlink, plain_links(p, i));
		check_attributes(o, inode);
		if (S_ISREG(o->mode))
			check_file(o, t);
		if (S_ISDIR(o->mode))
			check_dir(p, o, t);
		if (S_ISLNK(o->mode))
			assert_int_equal(inode->target->len, o->target);
		blocks += tree_blocks(inode);
	}
	assert_int_equal(t->inodes.count, objects);
	assert_int_equal(t->blocks, blocks);
}

#endif
