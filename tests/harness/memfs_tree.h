/* memfs_tree.h -- what the daemon memfs keeps: nodes, their names and bytes; and some of its
 * faults. */
#ifndef HARNESS_MEMFS_TREE_H
#define HARNESS_MEMFS_TREE_H

#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { FILE_MAX = 64 << 20 };

struct value {
	struct value *next;
	char *name, *bytes;
	size_t size;
};

struct entry {
	struct entry *next;
	char *name;
	struct node *node;
	off_t cookie; /* grows along the list: a place to continue from, whatever is removed */
	/* Fault name-cache: what the name had when it was looked up last. */
	struct stat seen;
	struct timespec seen_at;
};

struct node {
	struct stat st;
	uint64_t lookups, opens;
	char *bytes; /* of a file or a symbolic link */
	size_t room;
	struct entry *entries; /* of a directory */
	off_t last_cookie;
	struct node *parent;
	struct value *values;
	struct entry *used; /* fault name-cache: the name it was looked up by last */
};

static const char *fault;
static struct node root;

static bool is(const char *name)
{
	return !strcmp(fault, name);
}

/* ---- nodes ---- */

static struct node *node_of(fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? &root : (struct node *)ino;
}

static struct timespec now(void)
{
	struct timespec ret;

	clock_gettime(CLOCK_REALTIME, &ret);
	return ret;
}

static void touch(struct node *n)
{
	n->st.st_mtim = n->st.st_ctim = now();
}

static bool is_dir(const struct node *n)
{
	return S_ISDIR(n->st.st_mode);
}

static void node_init(struct node *n, mode_t mode)
{
	n->st.st_ino = n == &root ? FUSE_ROOT_ID : (ino_t)n;
	n->st.st_mode = mode;
	n->st.st_nlink = S_ISDIR(mode) ? 2 : 1;
	n->st.st_blksize = 4096;
	n->st.st_atim = n->st.st_mtim = n->st.st_ctim = now();
}

static void values_free(struct value *v)
{
	for (struct value *next; v; v = next) {
		next = v->next;
		free(v->name);
		free(v->bytes);
		free(v);
	}
}

/* A node without a name stays while the kernel knows it. */
static void node_release(struct node *n)
{
	if (n == &root || n->st.st_nlink || n->lookups || n->opens)
		return;
	values_free(n->values);
	free(n->bytes);
	free(n);
}

/* Makes room; what is behind the end of the file is zero. */
static int node_resize(struct node *n, off_t size)
{
	size_t old = (size_t)n->st.st_size, new = (size_t)size;

	if (size < 0 || size > FILE_MAX)
		return EFBIG;
	if (new > n->room) {
		n->bytes = realloc(n->bytes, new);
		memset(n->bytes + n->room, 0, new - n->room);
		n->room = new;
	}
	if (new < old && !is("truncate-stale"))
		memset(n->bytes + new, 0, old - new);
	n->st.st_size = size;
	n->st.st_blocks = (size + 511) / 512;
	return 0;
}

/* ---- directories ---- */

static struct entry *dir_find(const struct node *dir, const char *name)
{
	struct entry *e = dir->entries;

	while (e && strcmp(e->name, name))
		e = e->next;
	return e;
}

/* Adds the last entry. */
static struct entry *dir_add(struct node *dir, const char *name, struct node *n)
{
	struct entry *e = calloc(1, sizeof(*e)), **at = &dir->entries;

	while (*at)
		at = &(*at)->next;
	*at = e;
	e->name = strdup(name);
	e->node = n;
	e->cookie = ++dir->last_cookie;
	if (is_dir(n)) {
		n->parent = dir;
		dir->st.st_nlink++;
	}
	touch(dir);
	return e;
}

static void dir_remove(struct node *dir, struct entry *e)
{
	struct entry **at = &dir->entries;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	if (is_dir(e->node))
		dir->st.st_nlink--;
	if (e->node->used == e)
		e->node->used = NULL;
	free(e->name);
	free(e);
	touch(dir);
}

/* What has lost a name. */
static void node_lose_name(struct node *n)
{
	n->st.st_ctim = now();
	n->st.st_nlink = is_dir(n) ? 0 : n->st.st_nlink - 1;
	n->parent = NULL;
	node_release(n);
}

#endif
