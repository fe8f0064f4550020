/* list.h -- the objects of a tree by path, for printing and comparing. */
#ifndef TREE_LIST_H
#define TREE_LIST_H

#include "base/arena.h"
#include "tree/tree.h"

/* One name of an object. Every directory is followed by what is below it, names in the order of
 * their bytes. */
struct path_item {
	const char *path; /* from the root: "/", "/a", "/a/b" */
	const struct inode *inode;
	size_t first;     /* index of the first item with the same inode */
};

struct path_list {
	struct path_item *items;
	size_t count, cap;
	struct arena arena;
};

void path_list_make(struct path_list *list, const struct tree *t);
void path_list_free(struct path_list *list);
/* The order of lists: by bytes, but '/' before all. */
int path_compare(const char *a, const char *b);

/* The entries of a directory in the order of their names; *ret_count of them. */
const struct entry **sorted_entries(const struct tree *t, const struct inode *dir,
				    struct arena *arena, size_t *ret_count);
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
