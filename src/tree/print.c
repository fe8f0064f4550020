/* print.c -- a tree as lines, one per name, equal for equal trees. */
#include <string.h>
#include <sys/sysmacros.h>

#include "base/buf.h"
#include "tree/data.h"
#include "tree/list.h"

enum { SHOWN_MAX = 32 }; /* longer contents are shown by their hash */

const char *inode_kind(const struct inode *inode)
{
	switch (inode->mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symlink";
	case S_IFCHR:
		return "char";
	case S_IFBLK:
		return "block";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "error";
	}
}

static void add_data(struct buf *out, const struct tree *t, const struct inode *inode)
{
	char bytes[SHOWN_MAX], text[33];

	buf_addf(out, " size=%llu", (unsigned long long)inode->size);
	if (inode->size == 0)
		return;
	buf_adds(out, " data=");
	if (inode->size <= SHOWN_MAX) {
		add_quoted(out, bytes, tree_read(t, inode->ino, 0, bytes, sizeof(bytes)));
		return;
	}
	hash_print(data_hash(t, inode), text);
	buf_adds(out, text);
}

static void add_contents(struct buf *out, const struct tree *t, const struct inode *inode)
{
	if (t->fields & TREE_DATA && S_ISREG(inode->mode))
		add_data(out, t, inode);
	if (t->fields & TREE_DATA && S_ISLNK(inode->mode) && inode->target) {
		buf_adds(out, " target=");
		add_quoted(out, inode->target->bytes, inode->target->len);
	}
	if (t->fields & TREE_RDEV && (S_ISCHR(inode->mode) || S_ISBLK(inode->mode)))
		buf_addf(out, " device=%u:%u", major(inode->rdev), minor(inode->rdev));
}

static void add_xattrs(struct buf *out, const struct inode *inode)
{
	struct arena arena = ARENA_INIT;
	size_t count;
	const struct xattr **xattrs = sorted_xattrs(inode, &arena, &count);

	for (size_t i = 0; i < count; i++) {
		buf_addch(out, ' ');
		add_path(out, xattrs[i]->bytes);
		buf_addch(out, '=');
		add_quoted(out, xattrs[i]->bytes + xattrs[i]->name_len + 1, xattrs[i]->value_len);
	}
	arena_free(&arena);
}

static void print_inode(struct buf *out, const struct tree *t, const struct inode *inode)
{
	bool is_link = S_ISLNK(inode->mode);

	if (!(inode->mode & S_IFMT)) {
		buf_addf(out, " call=%s errno=", inode->error.call);
		add_errno(out, inode->error.code);
		return;
	}
	if (t->fields & (is_link ? TREE_SYMLINK_MODE : TREE_MODE))
		buf_addf(out, " mode=%04o", inode->mode & 07777);
	if (t->fields & TREE_OWNER)
		buf_addf(out, " owner=%u:%u", inode->uid, inode->gid);
	if (t->fields & (S_ISDIR(inode->mode) ? TREE_NLINK_DIR : TREE_NLINK))
		buf_addf(out, " links=%u", inode->nlink);
	if (t->fields & TREE_FLAGS && inode->flags)
		buf_addf(out, " flags=%#x", inode->flags);
	add_contents(out, t, inode);
	if (t->fields & TREE_XATTR)
		add_xattrs(out, inode);
	if (t->fields & TREE_TIMES && !is_link)
		buf_addf(out, " access=%lld", (long long)inode->times.access);
	if (t->fields & TREE_TIMES)
		buf_addf(out, " modify=%lld", (long long)inode->times.modify);
}

void tree_print(const struct tree *t, struct buf *out)
{
	struct path_list list;

	path_list_make(&list, t);
	for (size_t i = 0; i < list.count; i++) {
		const struct path_item *item = &list.items[i];

		add_item_path(out, &list, i);
		buf_addf(out, " %s", inode_kind(item->inode));
		if (item->first != i) {
			buf_adds(out, " same=");
			add_item_path(out, &list, item->first);
		} else {
			print_inode(out, t, item->inode);
		}
		buf_addch(out, '\n');
	}
	path_list_free(&list);
}
