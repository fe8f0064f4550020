/* take_over.c -- a tree of the model takes over what was observed.
 *
 * Both trees are listed by path; lists of trees with the same names have the same length and
 * order. */
#include "tree/take_over.h"

#include <string.h>

#include "tree/data.h"
#include "tree/list.h"

enum { CHUNK = 1 << 14 };

static bool take_over_is_alike(const struct path_list *own, const struct path_list *seen)
{
	if (own->count != seen->count)
		return false;
	for (size_t i = 0; i < own->count; i++) {
		const struct path_item *a = &own->items[i], *b = &seen->items[i];

		if (strcmp(a->name, b->name) || a->parent != b->parent || a->first != b->first ||
		    !(b->inode->mode & S_IFMT) ||
		    (a->inode->mode & S_IFMT) != (b->inode->mode & S_IFMT))
			return false;
	}
	return true;
}

static void take_over_data(struct tree *t, uint64_t ino, const struct tree *seen, uint64_t from)
{
	const struct inode *source = tree_inode(seen, from);
	char bytes[CHUNK];
	uint64_t at;
	size_t len;

	tree_truncate(t, ino, 0);
	tree_truncate(t, ino, source->size);
	for (at = tree_seek(seen, from, 0, true); at < source->size;
	     at = tree_seek(seen, from, at + len, true)) {
		len = tree_read(seen, from, at, bytes, sizeof(bytes));
		tree_write(t, ino, at, bytes, len);
	}
}

static void take_over_xattrs(struct tree *t, uint64_t ino, const struct inode *seen)
{
	const struct xattr *xattr;
	uint64_t cookie = 0;

	while ((xattr = tree_next_xattr(tree_inode(t, ino), &cookie))) {
		tree_remove_xattr(t, ino, xattr->bytes);
		cookie = 0;
	}
	while ((xattr = tree_next_xattr(seen, &cookie)))
		tree_set_xattr(t, ino, xattr->bytes, xattr->bytes + xattr->name_len + 1,
			       xattr->value_len);
}

/* names: of this object; one with fewer links than names would vanish too early. */
static void take_over_inode(struct tree *t, const struct inode *own, const struct tree *seen,
			    const struct inode *from, size_t names)
{
	uint64_t ino = own->ino;
	bool is_file = S_ISREG(own->mode);
	struct inode *inode;

	if (is_file && (own->size != from->size || data_difference(own, from) != DATA_END))
		take_over_data(t, ino, seen, from->ino);
	if (S_ISLNK(own->mode) && from->target)
		tree_set_target(t, ino, from->target->bytes, from->target->len);
	if (!hash_equal(own->xattr_hash, from->xattr_hash))
		take_over_xattrs(t, ino, from);
	inode = tree_edit(t, ino);
	inode->mode = from->mode;
	inode->uid = from->uid;
	inode->gid = from->gid;
	inode->flags = from->flags;
	inode->rdev = from->rdev;
	if (from->nlink >= names)
		inode->nlink = from->nlink;
}

static size_t take_over_names(const struct path_list *list, size_t first)
{
	size_t names = 0;

	for (size_t i = first; i < list->count; i++)
		names += list->items[i].first == first;
	return names;
}

bool tree_take_over(struct tree *t, const struct tree *seen)
{
	struct tree before = tree_copy(t);
	struct path_list own, other;
	bool alike;

	path_list_make(&own, &before);
	path_list_make(&other, seen);
	alike = take_over_is_alike(&own, &other);
	for (size_t i = 0; alike && i < own.count; i++)
		if (own.items[i].first == i)
			take_over_inode(t, own.items[i].inode, seen, other.items[i].inode,
					take_over_names(&own, i));
	tree_settle(t);
	path_list_free(&own);
	path_list_free(&other);
	tree_free(&before);
	return alike;
}
