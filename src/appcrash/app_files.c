/* app_files.c -- a tree of the model as files in a directory. */
#include "appcrash/app_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "tree/list.h"

enum { CHUNK = 1 << 16 };

static void app_files_path(struct buf *out, const struct path_list *list, size_t index,
			   const char *dir)
{
	if (!index) {
		buf_adds(out, dir);
		return;
	}
	app_files_path(out, list, list->items[index].parent, dir);
	buf_addf(out, "/%s", list->items[index].name);
}

/* Holes stay holes. */
static int app_files_write_data(const struct tree *t, const struct inode *inode, int fd)
{
	static char bytes[CHUNK];
	uint64_t at = tree_seek(t, inode->ino, 0, true);
	size_t len;

	while (at < inode->size && (len = tree_read(t, inode->ino, at, bytes, sizeof(bytes)))) {
		if (pwrite(fd, bytes, len, (off_t)at) != (ssize_t)len)
			return -1;
		at = tree_seek(t, inode->ino, at + len, true);
	}
	return ftruncate(fd, (off_t)inode->size);
}

static int app_files_make_file(const struct tree *t, const struct inode *inode, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed = fd < 0 || app_files_write_data(t, inode, fd);

	if (fd >= 0)
		close(fd);
	return failed ? -1 : 0;
}

static int app_files_make(const struct tree *t, const struct inode *inode, const char *path)
{
	switch (inode->mode & S_IFMT) {
	case S_IFREG:
		return app_files_make_file(t, inode, path);
	case S_IFDIR:
		return mkdir(path, 0700);
	case S_IFLNK:
		return symlink(inode->target ? inode->target->bytes : "", path);
	case S_IFIFO:
		return mkfifo(path, 0600);
	default:
		return 0;
	}
}

/* What cannot be set here is left as it is. */
static void app_files_set_attributes(const struct inode *inode, const char *path)
{
	const struct xattr *xattr;
	uint64_t cookie = 0;

	while ((xattr = tree_next_xattr(inode, &cookie)))
		(void)!lsetxattr(path, xattr->bytes, xattr->bytes + xattr->name_len + 1,
				 xattr->value_len, 0);
	if (inode->uid || inode->gid)
		(void)!lchown(path, inode->uid, inode->gid);
	if (!S_ISLNK(inode->mode))
		chmod(path, inode->mode & 07777);
}

int app_files_write(const struct tree *t, const char *dir, struct err *err)
{
	struct path_list list = { 0 };
	struct buf path = BUF_INIT, first = BUF_INIT;
	int status = 0;

	path_list_make(&list, t);
	for (size_t i = 1; i < list.count && !status; i++) {
		const struct path_item *item = &list.items[i];

		buf_clear(&path);
		buf_clear(&first);
		app_files_path(&path, &list, i, dir);
		app_files_path(&first, &list, item->first, dir);
		if (item->first == i ? app_files_make(t, item->inode, path.data)
				     : link(first.data, path.data))
			status = err_sys(err, errno, "cannot make %s", path.data);
	}
	/* Directories last: one may not be writable. */
	for (size_t i = list.count; i-- > 1 && !status;) {
		buf_clear(&path);
		app_files_path(&path, &list, i, dir);
		if (list.items[i].first == i)
			app_files_set_attributes(list.items[i].inode, path.data);
	}
	path_list_free(&list);
	buf_free(&path);
	buf_free(&first);
	return status;
}
