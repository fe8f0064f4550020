/* scan_part.c -- some objects of a mounted directory looked at again, in the tree of a scan.
 *
 * Files and links are taken out of the tree by their names and read again; directories stay where
 * they are, and what they list must be what the tree has then. Everything that a scan would remark
 * upon, or that has no place in the tree as it is, ends the look: then only a scan can tell. So
 * does any change of an object of which only the attributes are looked at, but for its times. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "tree/inode.h"
#include "tree/scanner.h"

/* A directory that is to be listed, once all that is in it is there. */
struct part_dir {
	uint64_t ino;
	const char *path;
};

struct part {
	struct scanner *w;
	int root_fd;
	struct part_dir dirs[SCAN_PART_MAX];
	size_t dir_count;
};

/* How much is looked at. */
enum part_depth { PART_ALL, PART_ATTRIBUTES, PART_TIMES };

static enum part_depth part_depth(const char **path)
{
	enum part_depth depth = PART_ALL;

	for (; **path == SCAN_PART_LESS && depth < PART_TIMES; depth++)
		++*path;
	return depth;
}

/* Where a path lies: the directory in the tree, and the last name. */
struct part_place {
	uint64_t dir;
	const char *name;
	size_t len; /* 0: the root */
};

static bool part_find(const struct tree *t, const char *path, struct part_place *ret)
{
	const struct entry *entry;
	const struct inode *dir;

	*ret = (struct part_place){ .dir = TREE_ROOT, .name = path };
	if (!strcmp(path, "."))
		return true;
	for (;; ret->name += ret->len + 1) {
		for (ret->len = 0; ret->name[ret->len] && ret->name[ret->len] != '/';)
			ret->len++;
		if (!ret->name[ret->len])
			return true;
		entry = tree_find(t, ret->dir, ret->name, ret->len);
		dir = entry ? tree_inode(t, entry->ino) : NULL;
		if (!dir || !S_ISDIR(dir->mode))
			return false;
		ret->dir = entry->ino;
	}
}

/* What the tree has at a place; NULL: nothing. */
static const struct inode *part_inode(const struct tree *t, const struct part_place *at)
{
	const struct entry *entry = at->len ? tree_find(t, at->dir, at->name, at->len) : NULL;

	if (!at->len)
		return tree_inode(t, TREE_ROOT);
	return entry ? tree_inode(t, entry->ino) : NULL;
}

/* What the tree has of a file or link goes. */
static void part_forget(const struct part *p, const char *path)
{
	enum part_depth depth = part_depth(&path);
	struct tree *t = p->w->tree;
	const struct inode *inode;
	struct part_place at;

	if (depth == PART_TIMES)
		return;
	inode = part_find(t, path, &at) ? part_inode(t, &at) : NULL;
	if (inode && !S_ISDIR(inode->mode))
		name_drop(t, at.dir, at.name, at.len);
}

/* A directory that was at this place is not there any more. False if there is something in it. */
static bool part_forget_dir(struct tree *t, const struct part_place *at)
{
	const struct inode *inode = part_inode(t, at);

	if (!inode)
		return true;
	if (!at->len || inode->dir.entries.count)
		return false;
	name_drop(t, at->dir, at->name, at->len);
	return true;
}

/* The inode of a directory that stayed in the tree, or of one that has just come to be there. */
static struct inode *part_edit_dir(struct tree *t, const struct part_place *at, uint64_t ino,
				   uint32_t mode)
{
	const struct inode *known = part_inode(t, at);

	if (!known || known->ino != ino) {
		if (!part_forget_dir(t, at) || tree_inode(t, ino))
			return NULL;
		inode_add(t, ino, mode);
		name_add(t, at->dir, at->name, at->len, ino);
	}
	return tree_edit(t, ino);
}

static bool part_look_at_dir(struct part *p, const char *path, const struct part_place *at,
			     const struct statx *st)
{
	uint64_t ino = statx_identity(p->w, st);
	struct inode *inode = part_edit_dir(p->w->tree, at, ino, st->stx_mode);

	if (!inode || p->dir_count == SCAN_PART_MAX)
		return false;
	inode->flags = 0;
	set_attributes(inode, st);
	pmap_drop(&inode->xattrs, &xattr_type);
	inode->xattr_hash = (struct hash){ 0, 0 };
	if (!p->w->keeps_contents)
		p->dirs[p->dir_count++] = (struct part_dir){ ino, path };
	else
		scan_xattrs(p->w, -1, p->root_fd, path, inode);
	return S_ISDIR(inode->mode);
}

static bool part_look_at_other(const struct part *p, const char *path, const struct part_place *at,
			       const struct statx *st)
{
	struct scanner *w = p->w;
	uint64_t ino = statx_identity(w, st);
	struct inode by_name = { 0 };
	const struct inode *known;

	if (!part_forget_dir(w->tree, at))
		return false;
	known = tree_inode(w->tree, ino);
	if (known) { /* by another name */
		set_attributes(&by_name, st);
		if ((known->mode ^ by_name.mode) & S_IFMT ||
		    inode_attributes_differ(known, &by_name, w->options.fields))
			return false;
		name_add(w->tree, at->dir, at->name, at->len, ino);
		return true;
	}
	inode_add(w->tree, ino, st->stx_mode);
	name_add(w->tree, at->dir, at->name, at->len, ino);
	scan_other(w, p->root_fd, path, tree_edit(w->tree, ino), st);
	return true;
}

/* An object that is to be as it was, but for its times. */
static bool part_look_at_times(const struct part *p, const struct part_place *at,
			       const struct statx *st)
{
	struct tree *t = p->w->tree;
	const struct inode *known = part_inode(t, at);
	struct inode now = { 0 };

	if (!known || known->ino != statx_identity(p->w, st))
		return false;
	set_attributes(&now, st);
	if ((known->mode ^ now.mode) & S_IFMT ||
	    inode_attributes_differ(known, &now, p->w->options.fields))
		return false;
	if (memcmp(&known->times, &now.times, sizeof(now.times)))
		tree_edit(t, known->ino)->times = now.times;
	return true;
}

static bool part_look_at(struct part *p, const char *path)
{
	enum part_depth depth = part_depth(&path);
	struct tree *t = p->w->tree;
	struct part_place at;
	struct statx st;

	if (!part_find(t, path, &at))
		return false;
	if (statx(p->root_fd, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_WANTED, &st) < 0)
		return errno == ENOENT && depth != PART_TIMES && part_forget_dir(t, &at);
	if (!inode_has_type(st.stx_mode))
		return false;
	if (depth == PART_TIMES)
		return part_look_at_times(p, &at, &st);
	p->w->keeps_contents = depth == PART_ATTRIBUTES;
	return S_ISDIR(st.stx_mode) ? part_look_at_dir(p, path, &at, &st)
				    : part_look_at_other(p, path, &at, &st);
}

/* The inode number that an entry which names this object must have; 0: not known. */
static uint64_t part_number(const struct scanner *w, uint64_t ino)
{
	if (ino == TREE_ROOT)
		return w->root_ino;
	return ino < scan_first_fresh ? ino : 0;
}

/* Whether an entry is of this object, as far as it says. */
static bool part_is_entry(const struct scanner *w, const struct dirent64 *entry, uint64_t ino)
{
	uint64_t number = part_number(w, ino);

	if (w->options.fields & TREE_ENTRY_INO && number && entry->d_ino != number)
		return false;
	return !(w->options.fields & TREE_ENTRY_TYPE) ||
	       is_entry_type(entry->d_type, tree_inode(w->tree, ino)->mode);
}

/* Whether the entries in w->dents are what the tree has in a directory, each name once. */
static bool part_is_listed(const struct scanner *w, uint64_t ino)
{
	const struct inode *dir = tree_inode(w->tree, ino);
	const struct dirent64 *entry;
	const struct entry *named;
	uint64_t cookie = 0;
	uintptr_t sum = 0;
	unsigned dots = 0;

	for (size_t at = 0; at < w->dents.len; at += entry->d_reclen) {
		unsigned dot;

		entry = (const struct dirent64 *)(w->dents.data + at);
		dot = dots_of(entry->d_name);
		if (dots & dot)
			return false;
		dots |= dot;
		if (dot == DOT && !part_is_entry(w, entry, ino))
			return false;
		if (dot == DOT_DOT && ino != TREE_ROOT && !part_is_entry(w, entry, dir->dir.parent))
			return false;
		if (dot)
			continue;
		named = tree_find(w->tree, ino, entry->d_name, strlen(entry->d_name));
		if (!named || !part_is_entry(w, entry, named->ino))
			return false;
		sum += (uintptr_t)named;
	}
	while ((named = tree_next_entry(w->tree, ino, &cookie)))
		sum -= (uintptr_t)named;
	return !sum && (!(w->options.fields & TREE_ENTRY_INO) || dots == (DOT | DOT_DOT));
}

/* Reads the entries of a directory until there are as many as the tree has. What comes behind them
 * is left to the next scan, and the call that would say that there is nothing is not made. */
static bool part_read_entries(struct scanner *w, int fd, uint64_t ino)
{
	size_t wanted = tree_inode(w->tree, ino)->dir.entries.count + 2, count = 0, at = 0;
	ssize_t n;

	buf_clear(&w->dents);
	do {
		n = read_some_entries(w, fd);
		for (; at < w->dents.len; count++)
			at += ((const struct dirent64 *)(w->dents.data + at))->d_reclen;
	} while (n > 0 && count < wanted);
	return n >= 0;
}

/* Looks at what is in a directory, and at its attributes. */
static bool part_list(struct scanner *w, int root_fd, const struct part_dir *dir)
{
	int fd = open_object(w, root_fd, dir->path, O_DIRECTORY);
	bool fine;

	if (fd < 0)
		return false;
	fine = part_read_entries(w, fd, dir->ino) && part_is_listed(w, dir->ino);
	if (fine)
		scan_xattrs(w, fd, -1, NULL, tree_edit(w->tree, dir->ino));
	close(fd);
	return fine && S_ISDIR(tree_inode(w->tree, dir->ino)->mode);
}

bool tree_scan_part(struct scanner *w, int root_fd, const char *paths, struct tree *t)
{
	struct part p = { .w = w, .root_fd = root_fd };
	struct tree known = tree_copy(t);
	struct err none = { 0 };
	bool fine = true;

	w->tree = t;
	/* cppcheck-suppress autoVariables ; only used below */
	w->known = &known;
	/* cppcheck-suppress autoVariables ; only used below */
	w->err = &none;
	w->error = 0;
	for (const char *path = paths; *path; path += strlen(path) + 1)
		part_forget(&p, path);
	for (const char *path = paths; *path && fine; path += strlen(path) + 1)
		fine = part_look_at(&p, path);
	for (size_t i = 0; i < p.dir_count && fine; i++)
		fine = part_list(w, root_fd, &p.dirs[i]);
	tree_free(&known);
	tree_settle(t);
	return fine && !w->error;
}
