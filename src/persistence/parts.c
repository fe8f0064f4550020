/* parts.c -- what each step of a history changed, and trees of mixed steps. */
#include "persistence/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "tree/data.h"

/* Two lists for each object: its names, where it is a directory, and all else. */
static struct hash part_list(uint64_t ino, enum part_kind kind)
{
	return (struct hash){ ino, kind == PART_NAME };
}

/* The place of the first in a list, + 1; 0: it is empty. */
static size_t parts_first(const struct parts *parts, uint64_t ino, enum part_kind kind)
{
	const uint64_t *first = hash_map_get(&parts->by_object, part_list(ino, kind));

	return first ? *first : 0;
}

/* ---- from steps to parts ---- */

struct collector {
	struct parts *parts;
	const struct tree *before, *after;
	uint32_t step;
	uint64_t ino; /* whose entries or blocks are compared */
};

static struct hash part_key(enum part_kind kind, uint64_t ino, const char *name, size_t len,
			    uint64_t block)
{
	struct {
		uint64_t kind, ino, block;
		struct hash name;
	} key = { kind, ino, block, hash128(name, len, 0) };

	return hash128(&key, sizeof(key), 0);
}

static bool parts_has_name(const struct parts *parts, uint64_t dir, const char *name, size_t len)
{
	return hash_map_get(&parts->by_key, part_key(PART_NAME, dir, name, len, 0)) != NULL;
}

static struct tree_part *part_of(struct parts *parts, enum part_kind kind, uint64_t ino,
				 const char *name, size_t len, uint64_t block)
{
	uint64_t *index = hash_map_put(&parts->by_key, part_key(kind, ino, name, len, block), NULL);
	struct tree_part *part;

	if (*index)
		return &parts->items[*index - 1];
	if (parts->count == parts->cap) {
		parts->cap = parts->cap ? 2 * parts->cap : 64;
		parts->items = must_realloc(parts->items, parts->cap * sizeof(*parts->items));
	}
	part = &parts->items[parts->count++];
	*index = parts->count;
	*part = (struct tree_part){ kind, ino,   arena_copy(&parts->arena, name, len),
				    len,  block, block + 1,
				    NULL, 0,     0,
				    0 };
	return part;
}

static void part_changes(struct collector *c, enum part_kind kind, const char *name, size_t len,
			 uint64_t block)
{
	struct tree_part *part = part_of(c->parts, kind, c->ino, name, len, block);

	if (part->count && part->steps[part->count - 1] == c->step)
		return;
	if (part->count == part->cap) {
		part->cap = part->cap ? 2 * part->cap : 4;
		part->steps = must_realloc(part->steps, part->cap * sizeof(*part->steps));
	}
	part->steps[part->count++] = c->step;
}

static void collect_entry(void *to, uint64_t key, const struct ref *in_a, const struct ref *in_b)
{
	const struct entry *a = (const struct entry *)in_a, *b = (const struct entry *)in_b;

	if (!a || !b || a->ino != b->ino)
		part_changes(to, PART_NAME, (a ? a : b)->name, (a ? a : b)->len, 0);
}

static void collect_block(void *to, uint64_t key, const struct ref *in_a, const struct ref *in_b)
{
	const struct blob *a = (const struct blob *)in_a, *b = (const struct blob *)in_b;

	if ((a ? a->len : 0) != (b ? b->len : 0) || (a && b && !hash_equal(a->hash, b->hash)))
		part_changes(to, PART_DATA, "", 0, key);
}

static void collect_inode(void *to, uint64_t ino, const struct ref *in_a, const struct ref *in_b)
{
	static const struct pmap none = PMAP_INIT;
	const struct inode *a = (const struct inode *)in_a, *b = (const struct inode *)in_b;
	const struct inode *any = b ? b : a;
	struct collector *c = to;

	c->ino = ino;
	if (S_ISDIR(any->mode))
		pmap_diff(a ? &a->dir.entries : &none, b ? &b->dir.entries : &none, collect_entry,
			  c);
	if (!b)
		return;
	if (a && (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid ||
		  !hash_equal(a->xattr_hash, b->xattr_hash)))
		part_changes(c, PART_ATTRIBUTES, "", 0, 0);
	if (!S_ISREG(b->mode))
		return;
	if ((a ? a->size : 0) != b->size)
		part_changes(c, PART_SIZE, "", 0, 0);
	pmap_diff(a ? &a->file.blocks : &none, &b->file.blocks, collect_block, c);
}

/* ---- blocks that all the same steps have changed are one part ---- */

static int part_compare_blocks(const void *a, const void *b)
{
	const struct tree_part *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static bool part_continues(const struct tree_part *a, const struct tree_part *b)
{
	return a->ino == b->ino && a->end == b->first && a->count == b->count &&
	       !memcmp(a->steps, b->steps, a->count * sizeof(*a->steps));
}

/* Data is put behind all others. */
static void parts_join_blocks(struct parts *parts)
{
	struct tree_part *sorted = must_alloc((parts->count + 1) * sizeof(*sorted));
	size_t names = 0, kept;

	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].kind != PART_DATA)
			sorted[names++] = parts->items[i];
	kept = names;
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].kind == PART_DATA)
			sorted[kept++] = parts->items[i];
	qsort(sorted + names, kept - names, sizeof(*sorted), part_compare_blocks);
	free(parts->items);
	parts->items = sorted;
	parts->cap = parts->count + 1;
	kept = names;
	for (size_t i = names; i < parts->count; i++) {
		if (kept > names && part_continues(&sorted[kept - 1], &sorted[i])) {
			sorted[kept - 1].end = sorted[i].end;
			free(sorted[i].steps);
		} else {
			sorted[kept++] = sorted[i];
		}
	}
	parts->count = kept;
}

/* Their places are known only now. */
static void parts_index(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		struct tree_part *part = &parts->items[i];
		uint64_t *first =
			hash_map_put(&parts->by_object, part_list(part->ino, part->kind), NULL);

		part->next = *first;
		*first = i + 1;
	}
}

void parts_make(struct parts *ret, const struct persistence *p)
{
	*ret = (struct parts){ .p = p, .arena = ARENA_INIT };
	for (size_t i = 1; i < p->count; i++) {
		struct collector c = { ret, &p->steps[i - 1].tree, &p->steps[i].tree, (uint32_t)i,
				       0 };

		pmap_diff(&c.before->inodes, &c.after->inodes, collect_inode, &c);
	}
	parts_join_blocks(ret);
	parts_index(ret);
}

void parts_free(struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		free(parts->items[i].steps);
	free(parts->items);
	hash_map_free(&parts->by_key);
	hash_map_free(&parts->by_object);
	arena_free(&parts->arena);
}

/* ---- from a choice to a tree ---- */

struct builder {
	const struct parts *parts;
	const struct crash_window *w;
	const struct part_choice *choice;
	struct tree *tree;
	bool sound;
};

/* The object at the step or, where it was removed before, at its last one; NULL: it is not there
 * yet. */
static const struct inode *builder_inode(const struct builder *b, uint64_t ino, size_t step)
{
	const struct inode *inode = NULL;

	for (size_t i = step + 1; i-- > 0 && !inode;)
		inode = window_inode(b->w, i, ino);
	return inode;
}

/* An object is never without attributes: before there is one, as it is made. */
static const struct inode *builder_made(const struct builder *b, uint64_t ino, size_t step)
{
	const struct inode *inode = builder_inode(b, ino, step);

	for (size_t i = step + 1; i <= b->w->begun && !inode; i++)
		inode = window_inode(b->w, i, ino);
	must(inode != NULL);
	return inode;
}

static void builder_put_block(struct builder *b, uint64_t ino, uint64_t block,
			      const struct inode *from)
{
	struct ref *blob = from ? pmap_get(&from->file.blocks, block) : NULL;

	if (blob)
		blob->count++;
	block_put(b->tree, tree_edit(b->tree, ino), block, (struct blob *)blob);
}

static void builder_set_attributes(struct builder *b, uint64_t ino, size_t step)
{
	const struct inode *from = builder_made(b, ino, step);
	struct inode *inode = tree_edit(b->tree, ino);
	const struct xattr *xattr;

	inode->mode = from->mode;
	inode->uid = from->uid;
	inode->gid = from->gid;
	inode->rdev = from->rdev;
	inode->times = from->times;
	for (uint64_t cookie = 0; (xattr = tree_next_xattr(from, &cookie));)
		tree_set_xattr(b->tree, ino, xattr->bytes, xattr->bytes + xattr->name_len + 1,
			       xattr->value_len);
}

/* Newest first; what is older, of the parts of it, takes the place of that. */
static void builder_set_data(struct builder *b, uint64_t ino)
{
	const struct inode *newest = builder_made(b, ino, b->w->begun);
	struct block_walk walk = block_walk(&newest->file.blocks, 0, DATA_END);
	uint64_t size = newest->size;

	while (block_next(&walk))
		builder_put_block(b, ino, walk.index, newest);
	for (size_t i = parts_first(b->parts, ino, PART_DATA); i; i = b->parts->items[i - 1].next) {
		const struct tree_part *part = &b->parts->items[i - 1];
		const struct inode *old = builder_inode(b, ino, b->choice->steps[i - 1]);
		bool is_newest = b->choice->steps[i - 1] == b->w->begun;
		bool torn = b->choice->torn == i && !is_newest;

		if (part->kind == PART_SIZE)
			size = torn ? b->choice->torn_at : old ? old->size : 0;
		if (part->kind != PART_DATA || is_newest)
			continue;
		for (uint64_t block = torn ? b->choice->torn_at : part->first; block < part->end;
		     block++)
			builder_put_block(b, ino, block, old);
	}
	tree_edit(b->tree, ino)->size = DATA_END - 1;
	tree_truncate(b->tree, ino, size);
}

static void builder_fill_directory(struct builder *b, uint64_t dir);

static void builder_make(struct builder *b, uint64_t ino)
{
	const struct inode *any = builder_made(b, ino, b->w->begun);
	size_t step = b->w->begun, i = parts_first(b->parts, ino, PART_ATTRIBUTES);

	while (i && b->parts->items[i - 1].kind != PART_ATTRIBUTES)
		i = b->parts->items[i - 1].next;
	if (i)
		step = b->choice->steps[i - 1];
	if (ino != TREE_ROOT) {
		b->tree->next_ino = ino;
		tree_new(b->tree, any->mode, any->uid, any->gid, 0);
	}
	builder_set_attributes(b, ino, step);
	if (S_ISLNK(any->mode) && any->target)
		tree_set_target(b->tree, ino, any->target->bytes, any->target->len);
	if (S_ISREG(any->mode))
		builder_set_data(b, ino);
}

static void builder_name(struct builder *b, uint64_t dir, const char *name, size_t len,
			 uint64_t ino)
{
	const struct inode *known = tree_inode(b->tree, ino);
	bool new = !known;

	if (known && S_ISDIR(known->mode)) {
		b->sound = false;
		return;
	}
	if (new)
		builder_make(b, ino);
	tree_link(b->tree, dir, name, len, ino);
	if (new &&S_ISDIR(tree_inode(b->tree, ino)->mode))
		builder_fill_directory(b, ino);
}

/* Names that steps have changed, then those that none has. */
static void builder_fill_directory(struct builder *b, uint64_t dir)
{
	const struct inode *from = window_inode(b->w, b->w->begun, dir);
	const struct entry *entry;
	size_t i = parts_first(b->parts, dir, PART_NAME);

	for (; i && b->sound; i = b->parts->items[i - 1].next) {
		const struct tree_part *part = &b->parts->items[i - 1];
		uint64_t ino =
			window_name(b->w, b->choice->steps[i - 1], dir, part->name, part->len);

		if (ino)
			builder_name(b, dir, part->name, part->len, ino);
	}
	for (uint64_t cookie = 0;
	     from && b->sound &&
	     (entry = tree_next_entry(window_tree(b->w, b->w->begun), dir, &cookie));)
		if (!parts_has_name(b->parts, dir, entry->name, entry->len))
			builder_name(b, dir, entry->name, entry->len, entry->ino);
}

bool parts_build(const struct parts *parts, const struct crash_window *w,
		 const struct part_choice *c, struct tree *ret)
{
	const struct tree *like = window_tree(w, w->begun);
	const struct inode *root = tree_inode(like, TREE_ROOT);
	struct builder b = { parts, w, c, ret, true };

	tree_init(ret, like->fields, like->hashed, root->mode & 07777, root->uid, root->gid);
	builder_make(&b, TREE_ROOT);
	builder_fill_directory(&b, TREE_ROOT);
	tree_settle(ret);
	if (!b.sound)
		tree_free(ret);
	return b.sound;
}
