/* dump.c -- a tree in the form of the published traces: a directory, its other objects by name,
 * then its subdirectories in turn. Strings are escaped as there, by decimal numbers. */
#include <errno.h>
#include <stdlib.h>
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
	struct buf path;         /* of the printed object */
	struct dir_levels above; /* each with the length of its path and a '/' */
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

static void dump_file(struct dumper *d, const struct inode *file)
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

static void dump_error(struct dumper *d, const char *call, int code)
{
	add_string(d->out, d->path.data, d->path.len);
	buf_addf(d->out, "|!|\"%s\"|", call);
	add_errno(d->out, code);
	buf_addch(d->out, '\n');
}

static void dump_object(struct dumper *d, const struct inode *inode)
{
	unsigned type = inode->mode & S_IFMT;

	if (type == 0) {
		dump_error(d, inode->error.call, inode->error.code);
		return;
	}
	if (type != S_IFREG && type != S_IFDIR && type != S_IFLNK) {
		dump_error(d, "open", EOPNOTSUPP); /* the form knows no other types */
		return;
	}
	if (type == S_IFREG && inode->size > summed_max) {
		dump_error(d, "read", EFBIG);
		return;
	}
	add_string(d->out, d->path.data, d->path.len);
	buf_adds(d->out, type == S_IFREG ? "|F" : type == S_IFDIR ? "|D" : "|L");
	if (d->with_ino && type != S_IFLNK) {
		buf_addch(d->out, '|');
		buf_addu(d->out, inode->ino);
	}
	if (type == S_IFREG)
		dump_file(d, inode);
	if (type == S_IFLNK) {
		buf_addch(d->out, '|');
		add_string(d->out, inode->target->bytes, inode->target->len);
	}
	buf_addch(d->out, '\n');
}

/* Sets the path to that of an entry of the directory. */
static const struct inode *dump_entry_inode(struct dumper *d, size_t dir_path_len,
					    const struct entry *entry)
{
	d->path.len = dir_path_len;
	buf_add(&d->path, entry->name, entry->len);
	return tree_inode(d->tree, entry->ino);
}

/* Prints the directory at the current path and its entries, without its subdirectories. */
static void dump_enter(struct dumper *d, const struct inode *dir)
{
	const struct dir_level *level;

	dump_object(d, dir);
	if (!d->path.len || d->path.data[d->path.len - 1] != '/')
		buf_addch(&d->path, '/');
	level = dir_levels_push(&d->above, d->tree, dir, &d->arena, d->path.len);
	for (size_t i = 0; i < level->count; i++) {
		if (!S_ISDIR(tree_inode(d->tree, level->entries[i]->ino)->mode))
			dump_object(d, dump_entry_inode(d, level->mark, level->entries[i]));
	}
}

static void add_dir(struct dumper *d, const struct inode *dir)
{
	const struct entry *entry;

	dump_enter(d, dir);
	while (d->above.depth) {
		size_t path_len = d->above.levels[d->above.depth - 1].mark;

		entry = dir_levels_next(&d->above);
		if (entry && S_ISDIR(tree_inode(d->tree, entry->ino)->mode))
			dump_enter(d, dump_entry_inode(d, path_len, entry));
	}
}

/* The object at a path, links not followed; NULL if there is none. */
static const struct inode *dump_find_path(const struct tree *t, const char *path)
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
	struct dumper d = { .tree = t, .with_ino = with_ino, .out = out, .arena = ARENA_INIT };
	const struct inode *inode = dump_find_path(t, path);

	buf_adds(&d.path, path);
	if (!inode)
		dump_error(&d, "lstat", ENOENT);
	else if (S_ISDIR(inode->mode))
		add_dir(&d, inode);
	else
		dump_object(&d, inode);
	free(d.above.levels);
	buf_free(&d.path);
	arena_free(&d.arena);
}
