/* list.h -- the objects of a tree by path, for printing and comparing. */
#ifndef TREE_LIST_H
#define TREE_LIST_H

#include "base/arena.h"
#include "tree/tree.h"

struct buf;

/* One name of an object. Every directory is followed by what is below it, names in the order of
 * their bytes. Paths are chains of names: written out, those of a deep tree would fill any
 * memory. */
struct path_item {
	const char *name; /* "" of the root */
	const struct inode *inode;
	size_t parent; /* index of its directory; the root's is itself */
	size_t depth;  /* 0: the root */
	size_t first;  /* index of the first item with the same inode */
};

struct path_list {
	struct path_item *items;
	size_t count, cap;
	struct arena arena;
};

void path_list_make(struct path_list *list, const struct tree *t);
void path_list_free(struct path_list *list);
/* Appends the path of an item from the root ("/", "/a", "/a/b"), as add_path() does. */
void add_item_path(struct buf *out, const struct path_list *list, size_t index);
/* What a tree has at the path of an item; NULL: nothing. */
const struct inode *item_lookup(const struct path_list *list, size_t index, const struct tree *t);

/* The directories from the outermost to where a walk is; deep trees would need too much stack. */
struct dir_level {
	const struct entry **entries; /* sorted */
	size_t count, next;
	size_t mark; /* the walk's */
};

struct dir_levels {
	struct dir_level *levels;
	size_t depth, cap;
};

/* Descends into the directory. */
struct dir_level *dir_levels_push(struct dir_levels *l, const struct tree *t,
				  const struct inode *dir, struct arena *arena, size_t mark);
/* The next entry of the innermost directory; at its end it is left, and NULL returned. */
const struct entry *dir_levels_next(struct dir_levels *l);

/* The attributes of an inode in the order of their names. */
const struct xattr **sorted_xattrs(const struct inode *inode, struct arena *arena,
				   size_t *ret_count);

/* Appends a path or name with bytes that do not print as \ooo; a text in quotes likewise. */
void add_path(struct buf *out, const char *path);
void add_quoted(struct buf *out, const char *bytes, size_t len);
void add_errno(struct buf *out, int code); /* its name, or its number */
/* "file", "directory", ..., "error" */
const char *inode_kind(const struct inode *inode);

#endif
