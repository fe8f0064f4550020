/* list.c -- the objects of a tree by path, for printing and comparing. */
#include "tree/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/must.h"

int path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	/* The end of a path is below '/', and '/' below whatever a name can hold. */
	return (*a == '/' ? 0 : *a ? (unsigned char)*a : -1) -
	       (*b == '/' ? 0 : *b ? (unsigned char)*b : -1);
}

static int compare_entries(const void *a, const void *b)
{
	return strcmp((*(const struct entry *const *)a)->name,
		      (*(const struct entry *const *)b)->name);
}

const struct entry **sorted_entries(const struct tree *t, const struct inode *dir,
				    struct arena *arena, size_t *ret_count)
{
	const struct entry **entries =
		arena_alloc(arena, dir->dir.entries.count * sizeof(*entries));
	const struct entry *entry;
	uint64_t cookie = 0;
	size_t count = 0;

	while ((entry = tree_next_entry(t, dir->ino, &cookie)))
		entries[count++] = entry;
	qsort(entries, count, sizeof(*entries), compare_entries);
	*ret_count = count;
	return entries;
}

static int compare_xattrs(const void *a, const void *b)
{
	return strcmp((*(const struct xattr *const *)a)->bytes,
		      (*(const struct xattr *const *)b)->bytes);
}

const struct xattr **sorted_xattrs(const struct inode *inode, struct arena *arena,
				   size_t *ret_count)
{
	const struct xattr **xattrs = arena_alloc(arena, inode->xattrs.count * sizeof(*xattrs));
	const struct xattr *x;
	uint64_t cookie = 0;
	size_t count = 0;

	while ((x = tree_next_xattr(inode, &cookie)))
		xattrs[count++] = x;
	qsort(xattrs, count, sizeof(*xattrs), compare_xattrs);
	*ret_count = count;
	return xattrs;
}

struct lister {
	const struct tree *tree;
	struct path_list *list;
	struct hash_map seen; /* inode number to index + 1 */
};

static void add_item(struct lister *l, const char *path, const struct inode *inode)
{
	struct path_list *list = l->list;
	uint64_t *first = hash_map_put(&l->seen, (struct hash){ inode->ino, 0 }, NULL);

	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 64;
		list->items = must_realloc(list->items, list->cap * sizeof(*list->items));
	}
	if (!*first)
		*first = list->count + 1;
	list->items[list->count++] = (struct path_item){ path, inode, *first - 1 };
}

static void add_below(struct lister *l, const char *path, const struct inode *dir)
{
	size_t count, path_len = path[1] ? strlen(path) : 0;
	const struct entry **entries = sorted_entries(l->tree, dir, &l->list->arena, &count);

	for (size_t i = 0; i < count; i++) {
		const struct inode *inode = tree_inode(l->tree, entries[i]->ino);
		char *child = arena_alloc(&l->list->arena, path_len + 1 + entries[i]->len + 1);

		memcpy(child, path, path_len);
		child[path_len] = '/';
		memcpy(child + path_len + 1, entries[i]->name, entries[i]->len);
		add_item(l, child, inode);
		if (S_ISDIR(inode->mode))
			add_below(l, child, inode);
	}
}

void path_list_make(struct path_list *list, const struct tree *t)
{
	struct lister l = { t, list, HASH_MAP_INIT };
	const struct inode *root = tree_inode(t, TREE_ROOT);

	*list = (struct path_list){ .arena = ARENA_INIT };
	add_item(&l, "/", root);
	add_below(&l, "/", root);
	hash_map_free(&l.seen);
}

void path_list_free(struct path_list *list)
{
	free(list->items);
	arena_free(&list->arena);
}

static void add_escaped(struct buf *out, const char *bytes, size_t len, const char *special)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c < ' ' || c >= 0x7f || (c && strchr(special, c)))
			buf_addf(out, "\\%03o", c);
		else
			buf_addch(out, (char)c);
	}
}

void add_path(struct buf *out, const char *path)
{
	add_escaped(out, path, strlen(path), " \\");
}

void add_quoted(struct buf *out, const char *bytes, size_t len)
{
	buf_addch(out, '"');
	add_escaped(out, bytes, len, "\"\\");
	buf_addch(out, '"');
}

void add_errno(struct buf *out, int code)
{
	const char *name = strerrorname_np(code);

	if (name)
		buf_adds(out, name);
	else
		buf_addf(out, "%d", code);
}
