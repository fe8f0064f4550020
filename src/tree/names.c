/* names.c -- directory entries, and what a name does to link counts, parents and places.
 *
 * A directory has one name, so its places are the hash of its path, and the place of a name
 * below it is made of that and the name. Moving a directory therefore moves the places of all
 * that is below; trees that keep no hash skip it. */
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "tree/inode.h"
#include "tree/named.h"
#include "tree/pool.h"

static void entry_free(struct ref *object)
{
	pool_free(object, entry_size(((struct entry *)object)->len));
}

const struct pmap_type entry_type = { .free = entry_free };

static const struct named_kind entry_kind = {
	.type = &entry_type,
	.len_at = offsetof(struct entry, len),
	.name_at = offsetof(struct entry, name),
};

static struct entry *entry_new(const char *name, size_t len, uint64_t ino)
{
	struct entry *entry = pool_alloc(entry_size(len));

	*entry = (struct entry){ .ref.count = 1, .ino = ino, .len = len };
	memcpy(entry->name, name, len);
	entry->name[len] = '\0';
	return entry;
}

/* The place of a name in the directory with this path. */
static struct hash place_hash(struct hash path, const char *name, size_t len)
{
	struct hash pair[2] = { path, hash128(name, len, SEED_PLACE) };

	return hash128(pair, sizeof(pair), SEED_PLACE);
}

const struct entry *tree_find(const struct tree *t, uint64_t dir, const char *name, size_t len)
{
	const struct inode *inode = tree_inode(t, dir);

	return (const struct entry *)named_find(&inode->dir.entries, &entry_kind, name, len);
}

const struct entry *tree_next_entry(const struct tree *t, uint64_t dir, uint64_t *cookie)
{
	return (const struct entry *)named_next(&tree_inode(t, dir)->dir.entries, cookie);
}

void name_add(struct tree *t, uint64_t dir, const char *name, size_t len, uint64_t ino)
{
	struct inode *parent = tree_edit(t, dir), *child = tree_edit(t, ino);

	named_put(&parent->dir.entries, &entry_kind, &entry_new(name, len, ino)->ref);
	if (S_ISDIR(child->mode))
		child->dir.parent = dir;
	if (t->hashed)
		child->places = hash_add(child->places, place_hash(parent->places, name, len));
}

/* Gives the inode a name, and its directory a subdirectory if it is one. */
static void name_attach(struct tree *t, uint64_t dir, const char *name, size_t len, uint64_t ino)
{
	name_add(t, dir, name, len, ino);
	if (S_ISDIR(tree_inode(t, ino)->mode))
		tree_edit(t, dir)->nlink++;
}

/* Takes a name away again; returns its inode. */
static struct inode *name_detach(struct tree *t, uint64_t dir, const char *name, size_t len)
{
	const struct entry *entry = tree_find(t, dir, name, len);
	struct inode *parent, *child;

	must(entry);
	child = tree_edit(t, entry->ino);
	parent = tree_edit(t, dir);
	if (t->hashed)
		child->places = hash_sub(child->places, place_hash(parent->places, name, len));
	/* One that was observed may not count the directories in it. */
	if (S_ISDIR(child->mode) && parent->nlink > 1)
		parent->nlink--;
	named_remove(&parent->dir.entries, &entry_kind, name, len);
	return child;
}

void name_drop(struct tree *t, uint64_t dir, const char *name, size_t len)
{
	uint32_t nlink = tree_inode(t, dir)->nlink;
	struct inode *inode = name_detach(t, dir, name, len);

	tree_edit(t, dir)->nlink = nlink;
	if (inode->places.lo | inode->places.hi)
		return;
	inode->nlink = 0;
	inode_reap(t, inode->ino);
}

/* A directory whose path changed, and what it was. */
struct moved {
	uint64_t ino;
	struct hash before;
};

/* The places of what is in a directory follow its path; of directories in it, so will those of
 * what is in them. */
static void move_places(struct tree *t, struct moved moved, struct buf *more)
{
	const struct inode *dir = tree_inode(t, moved.ino);
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(t, moved.ino, &cookie))) {
		struct inode *child = tree_edit(t, entry->ino);
		struct hash old = place_hash(moved.before, entry->name, entry->len);

		child->places = hash_add(hash_sub(child->places, old),
					 place_hash(dir->places, entry->name, entry->len));
		if (S_ISDIR(child->mode))
			buf_add(more, &(struct moved){ entry->ino, old }, sizeof(struct moved));
	}
}

/* After a directory's path changed from `before`: the places below it follow. */
static void rehash_moved(struct tree *t, uint64_t ino, struct hash before)
{
	const struct inode *dir = tree_inode(t, ino);
	struct moved moved = { ino, before };
	struct buf more = BUF_INIT;

	if (!t->hashed || !S_ISDIR(dir->mode) || !dir->dir.entries.count ||
	    hash_equal(dir->places, before))
		return;
	buf_add(&more, &moved, sizeof(moved));
	while (more.len) {
		more.len -= sizeof(moved);
		memcpy(&moved, more.data + more.len, sizeof(moved));
		move_places(t, moved, &more);
	}
	buf_free(&more);
}

void tree_link(struct tree *t, uint64_t dir, const char *name, size_t len, uint64_t ino)
{
	struct inode *inode = tree_edit(t, ino);

	inode->nlink += S_ISDIR(inode->mode) ? 2 : 1;
	name_attach(t, dir, name, len, ino);
}

void tree_unlink(struct tree *t, uint64_t dir, const char *name, size_t len)
{
	struct inode *inode = name_detach(t, dir, name, len);

	bool directory = S_ISDIR(inode->mode);

	inode->nlink = directory ? 0 : inode->nlink - 1;
	/* A process in a removed directory can still use "..". */
	if (!inode_reap(t, inode->ino) && directory)
		tree_edit(t, dir)->dir.orphans++;
}

void tree_rename(struct tree *t, uint64_t from_dir, const char *from, size_t from_len,
		 uint64_t to_dir, const char *to, size_t to_len)
{
	const struct entry *entry = tree_find(t, from_dir, from, from_len);
	struct hash before;
	uint64_t ino;

	must(entry);
	if (from_dir == to_dir && from_len == to_len && memcmp(from, to, to_len) == 0)
		return;
	ino = entry->ino;
	before = tree_inode(t, ino)->places;
	if (tree_find(t, to_dir, to, to_len))
		tree_unlink(t, to_dir, to, to_len);
	name_detach(t, from_dir, from, from_len);
	name_attach(t, to_dir, to, to_len, ino);
	rehash_moved(t, ino, before);
}

void tree_exchange(struct tree *t, uint64_t a_dir, const char *a, size_t a_len, uint64_t b_dir,
		   const char *b, size_t b_len)
{
	const struct entry *a_entry = tree_find(t, a_dir, a, a_len);
	const struct entry *b_entry = tree_find(t, b_dir, b, b_len);
	uint64_t a_ino, b_ino;
	struct hash a_before, b_before;

	must(a_entry && b_entry);
	if (a_entry == b_entry)
		return;
	a_ino = a_entry->ino;
	b_ino = b_entry->ino;
	a_before = tree_inode(t, a_ino)->places;
	b_before = tree_inode(t, b_ino)->places;
	name_detach(t, a_dir, a, a_len);
	name_detach(t, b_dir, b, b_len);
	name_attach(t, b_dir, b, b_len, a_ino);
	name_attach(t, a_dir, a, a_len, b_ino);
	rehash_moved(t, a_ino, a_before);
	rehash_moved(t, b_ino, b_before);
}

bool tree_is_ancestor(const struct tree *t, uint64_t dir, uint64_t below)
{
	while (below != dir) {
		const struct inode *inode = tree_inode(t, below);

		/* Above a removed directory there may be nothing left. */
		if (!inode || inode->dir.parent == below)
			return false;
		below = inode->dir.parent;
	}
	return true;
}
