/* names.c -- the paths of inodes, put into the labels of a walk that met the inodes before. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/must.h"
#include "ondisk/walk.h"

enum { NAME_MAX_KEPT = 40, NAMES_MAX = 1 << 20 };

struct walk_name {
	uint64_t inode, dir;
	char name[NAME_MAX_KEPT];
};

struct walk_names {
	struct walk_name *rows; /* in order, once they are applied */
	size_t count, cap;
};

void walk_name(struct ondisk_walk *w, uint64_t inode, uint64_t dir, const uint8_t *name, size_t len)
{
	struct walk_names *n = w->names;
	struct walk_name *row;

	if (!n)
		n = w->names = must_alloc(sizeof(*n));
	if (n->count >= NAMES_MAX || (len == 1 && name[0] == '.') ||
	    (len == 2 && name[0] == '.' && name[1] == '.'))
		return;
	if (n->count == n->cap) {
		n->cap = n->cap ? n->cap * 2 : 64;
		n->rows = must_realloc(n->rows, n->cap * sizeof(*n->rows));
	}
	row = &n->rows[n->count++];
	*row = (struct walk_name){ .inode = inode, .dir = dir };
	for (size_t i = 0; i < len && i + 1 < sizeof(row->name); i++)
		row->name[i] = isprint(name[i]) ? (char)name[i] : '?';
}

/* Of several names of an inode the first in this order counts. */
static int walk_compare_names(const void *a, const void *b)
{
	const struct walk_name *x = a, *y = b;

	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->dir != y->dir)
		return x->dir < y->dir ? -1 : 1;
	return strcmp(x->name, y->name);
}

static const struct walk_name *walk_find_name(const struct walk_names *n, uint64_t inode)
{
	size_t low = 0, high = n->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (n->rows[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n->count && n->rows[low].inode == inode ? &n->rows[low] : NULL;
}

/* "" where it has no name. */
static void walk_name_path(const struct walk_names *n, char ret[WALK_PATH_MAX], uint64_t inode,
			   uint64_t root, unsigned depth)
{
	const struct walk_name *row = walk_find_name(n, inode);
	size_t len;

	*ret = '\0';
	if (inode == root || !row || depth > WALK_DEPTH_MAX)
		return;
	walk_name_path(n, ret, row->dir, root, depth + 1);
	len = strlen(ret);
	snprintf(ret + len, WALK_PATH_MAX - len, "/%s", row->name);
}

static void walk_label(const struct walk_names *n, struct ondisk_instance *x, const char *prefix,
		       uint64_t root)
{
	char path[WALK_PATH_MAX], text[WALK_PATH_MAX + 2 * sizeof(x->label)], *rest;
	size_t len = strlen(prefix);
	uint64_t inode;

	if (strncmp(x->label, prefix, len) != 0)
		return;
	inode = strtoull(x->label + len, &rest, 10);
	walk_name_path(n, path, inode, root, 0);
	if (inode == root)
		strcpy(path, "/");
	if (!*path)
		return;
	snprintf(text, sizeof(text), "%.*s, %s%s", (int)(rest - x->label), x->label, path, rest);
	snprintf(x->label, sizeof(x->label), "%.*s", (int)sizeof(x->label) - 1, text);
}

void walk_apply_names(struct ondisk_walk *w, const char *prefix, uint64_t root)
{
	struct walk_names *n = w->names;

	if (!n)
		return;
	if (n->count)
		qsort(n->rows, n->count, sizeof(*n->rows), walk_compare_names);
	for (size_t i = 0; i < w->map->count; i++)
		walk_label(n, &w->map->instances[i], prefix, root);
	free(n->rows);
	free(n);
	w->names = NULL;
}
