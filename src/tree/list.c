/* list.c -- the objects of a tree by path, for printing and comparing. */
#include "tree/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/must.h"

static int compare_entries(const void *a, const void *b)
{
	return strcmp((*(const struct entry *const *)a)->name,
		      (*(const struct entry *const *)b)->name);
}

/* The entries of a directory in the order of their names; *ret_count of them. */
static const struct entry **sorted_entries(const struct tree *t, const struct inode *dir,
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

static int by_xattr_name_bytes(const void *a, const void *b)
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
	qsort(xattrs, count, sizeof(*xattrs), by_xattr_name_bytes);
	*ret_count = count;
	return xattrs;
}

struct dir_level *dir_levels_push(struct dir_levels *l, const struct tree *t,
				  const struct inode *dir, struct arena *arena, size_t mark)
{
	struct dir_level *level;

	if (l->depth == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 16;
		l->levels = must_realloc(l->levels, l->cap * sizeof(*l->levels));
	}
	level = &l->levels[l->depth++];
	*level = (struct dir_level){ .mark = mark };
	level->entries = sorted_entries(t, dir, arena, &level->count);
	return level;
}

const struct entry *dir_levels_next(struct dir_levels *l)
{
	struct dir_level *level = &l->levels[l->depth - 1];

	if (level->next < level->count)
		return level->entries[level->next++];
	l->depth--;
	return NULL;
}

struct lister {
	const struct tree *tree;
	struct path_list *list;
	struct hash_map seen;    /* inode number to index + 1 */
	struct dir_levels above; /* each with the index of its item */
};

static void lister_add(struct lister *l, const char *name, const struct inode *inode)
{
	struct path_list *list = l->list;
	size_t depth = l->above.depth;
	uint64_t *first = hash_map_put(&l->seen, (struct hash){ inode->ino, 0 }, NULL);

	if (list->count == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 64;
		list->items = must_realloc(list->items, list->cap * sizeof(*list->items));
	}
	if (!*first)
		*first = list->count + 1;
	list->items[list->count++] = (struct path_item){
		.name = name,
		.inode = inode,
		.parent = depth ? l->above.levels[depth - 1].mark : 0,
		.depth = depth,
		.first = *first - 1,
	};
}

void path_list_make(struct path_list *list, const struct tree *t)
{
	struct lister l = { .tree = t, .list = list, .seen = HASH_MAP_INIT };
	const struct inode *inode = tree_inode(t, TREE_ROOT);
	const struct entry *entry;

	*list = (struct path_list){ .arena = ARENA_INIT };
	lister_add(&l, "", inode);
	dir_levels_push(&l.above, t, inode, &list->arena, 0);
	while (l.above.depth) {
		entry = dir_levels_next(&l.above);
		if (!entry)
			continue;
		inode = tree_inode(t, entry->ino);
		lister_add(&l, entry->name, inode);
		if (S_ISDIR(inode->mode))
			dir_levels_push(&l.above, t, inode, &list->arena, list->count - 1);
	}
	free(l.above.levels);
	hash_map_free(&l.seen);
}

void path_list_free(struct path_list *list)
{
	free(list->items);
	arena_free(&list->arena);
}

/* The names from the root down to an item, `depth` of them; the caller frees them. */
static const char **item_names(const struct path_list *list, size_t index)
{
	const struct path_item *item = &list->items[index];
	const char **names = must_alloc((item->depth + 1) * sizeof(*names));

	for (; item->depth; item = &list->items[item->parent])
		names[item->depth - 1] = item->name;
	return names;
}

void add_item_path(struct buf *out, const struct path_list *list, size_t index)
{
	const char **names = item_names(list, index);
	size_t depth = list->items[index].depth;

	if (!depth)
		buf_addch(out, '/');
	for (size_t i = 0; i < depth; i++) {
		buf_addch(out, '/');
		add_path(out, names[i]);
	}
	free(names);
}

const struct inode *item_lookup(const struct path_list *list, size_t index, const struct tree *t)
{
	const char **names = item_names(list, index);
	const struct inode *inode = tree_inode(t, TREE_ROOT);
	const struct entry *entry;

	for (size_t i = 0; inode && i < list->items[index].depth; i++) {
		entry = S_ISDIR(inode->mode) ? tree_find(t, inode->ino, names[i], strlen(names[i]))
					     : NULL;
		inode = entry ? tree_inode(t, entry->ino) : NULL;
	}
	free(names);
	return inode;
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
