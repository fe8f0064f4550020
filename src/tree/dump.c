/* dump.c -- a tree in the form of the published traces: a directory, its other objects by name,
 * then its subdirectories in turn. Strings are escaped as there, by decimal numbers. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/sha1.h"
#include "tree/list.h"

/* Contents longer than this are not summed up; the published suite has none. */
static const uint64_t summed_max = (uint64_t)1 << 32;

struct dumper {
	const struct tree *tree;
	bool with_ino;
	struct buf *out;
	struct arena arena;
};

static void add_string(struct buf *out, const char *bytes, size_t len)
{
	static const char plain[] = "\\\"\n\t\r\b", escaped[] = "\\\"ntrb";

	buf_addch(out, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		const char *found = c ? strchr(plain, c) : NULL;

		if (found)
			buf_addf(out, "\\%c", escaped[found - plain]);
		else if (c < ' ' || c >= 0x7f)
			buf_addf(out, "\\%03u", c);
		else
			buf_addch(out, (char)c);
	}
	buf_addch(out, '"');
}

static void add_file(struct dumper *d, const struct inode *file)
{
	struct sha1 sum = SHA1_INIT;
	char bytes[TREE_BLOCK], text[41];
	uint64_t offset = 0;
	size_t len;

	while ((len = tree_read(d->tree, file->ino, offset, bytes, sizeof(bytes)))) {
		sha1_add(&sum, bytes, len);
		offset += len;
	}
	sha1_print(&sum, text);
	buf_addch(d->out, '|');
	buf_addu(d->out, file->size);
	buf_addf(d->out, "|\"%s\"", text);
}

static void add_error(struct dumper *d, const char *path, const char *call, int code)
{
	add_string(d->out, path, strlen(path));
	buf_addf(d->out, "|!|\"%s\"|", call);
	add_errno(d->out, code);
	buf_addch(d->out, '\n');
}

static void add_object(struct dumper *d, const char *path, const struct inode *inode)
{
	unsigned type = inode->mode & S_IFMT;

	if (type == 0) {
		add_error(d, path, inode->error.call, inode->error.code);
		return;
	}
	if (type != S_IFREG && type != S_IFDIR && type != S_IFLNK) {
		add_error(d, path, "open", EOPNOTSUPP); /* the form knows no other types */
		return;
	}
	if (type == S_IFREG && inode->size > summed_max) {
		add_error(d, path, "read", EFBIG);
		return;
	}
	add_string(d->out, path, strlen(path));
	buf_adds(d->out, type == S_IFREG ? "|F" : type == S_IFDIR ? "|D" : "|L");
	if (d->with_ino && type != S_IFLNK) {
		buf_addch(d->out, '|');
		buf_addu(d->out, inode->ino);
	}
	if (type == S_IFREG)
		add_file(d, inode);
	if (type == S_IFLNK) {
		buf_addch(d->out, '|');
		add_string(d->out, inode->target->bytes, inode->target->len);
	}
	buf_addch(d->out, '\n');
}

static const char *join(struct dumper *d, const char *path, const struct entry *entry)
{
	size_t len = strlen(path);
	char *child = arena_alloc(&d->arena, len + 1 + entry->len + 1);

	memcpy(child, path, len);
	if (!len || child[len - 1] != '/')
		child[len++] = '/';
	memcpy(child + len, entry->name, entry->len);
	return child;
}

static void add_dir(struct dumper *d, const char *path, const struct inode *dir)
{
	size_t count;
	const struct entry **entries = sorted_entries(d->tree, dir, &d->arena, &count);

	add_object(d, path, dir);
	for (size_t i = 0; i < count; i++) {
		const struct inode *inode = tree_inode(d->tree, entries[i]->ino);

		if (!S_ISDIR(inode->mode))
			add_object(d, join(d, path, entries[i]), inode);
	}
	for (size_t i = 0; i < count; i++) {
		const struct inode *inode = tree_inode(d->tree, entries[i]->ino);

		if (S_ISDIR(inode->mode))
			add_dir(d, join(d, path, entries[i]), inode);
	}
}

/* The object at a path, links not followed; NULL if there is none. */
static const struct inode *find(const struct tree *t, const char *path)
{
	const struct inode *inode = tree_inode(t, TREE_ROOT);

	while (*(path += strspn(path, "/"))) {
		size_t len = strcspn(path, "/");
		const struct entry *entry;

		if (!S_ISDIR(inode->mode))
			return NULL;
		if (len == 2 && path[0] == '.' && path[1] == '.') {
			inode = tree_inode(t, inode->dir.parent);
		} else if (!(len == 1 && path[0] == '.')) {
			entry = tree_find(t, inode->ino, path, len);
			if (!entry)
				return NULL;
			inode = tree_inode(t, entry->ino);
		}
		path += len;
	}
	return inode;
}

void tree_dump(const struct tree *t, const char *path, bool with_ino, struct buf *out)
{
	struct dumper d = { t, with_ino, out, ARENA_INIT };
	const struct inode *inode = find(t, path);

	if (!inode)
		add_error(&d, path, "lstat", ENOENT);
	else if (S_ISDIR(inode->mode))
		add_dir(&d, path, inode);
	else
		add_object(&d, path, inode);
	arena_free(&d.arena);
}
