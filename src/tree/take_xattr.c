/* take_xattr.c -- the extended attributes of an object on its file system. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tree/taker.h"

#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

/* A path to an object by the descriptor of its directory. */
struct fd_path {
	char text[sizeof("/proc/self/fd/") + 12 + 4096];
};

static const char *fd_path(struct fd_path *path, int dir_fd, const char *name)
{
	snprintf(path->text, sizeof(path->text), "/proc/self/fd/%d/%s", dir_fd, name);
	return path->text;
}

static ssize_t list_names(struct taker *w, int fd, int dir_fd, const char *name, char *list)
{
	struct fd_path path;
	ssize_t n;

	if (fd >= 0)
		return flistxattr(fd, list, TAKER_XATTRS);
	if (!w->no_listxattrat) {
		n = syscall(SYS_listxattrat, dir_fd, name, AT_SYMLINK_NOFOLLOW, list, TAKER_XATTRS);
		if (n >= 0 || errno != ENOSYS)
			return n;
		w->no_listxattrat = true;
	}
	return llistxattr(fd_path(&path, dir_fd, name), list, TAKER_XATTRS);
}

static ssize_t get_value(int fd, int dir_fd, const char *name, const char *attribute, char *value)
{
	struct fd_path path;

	if (fd >= 0)
		return fgetxattr(fd, attribute, value, TAKER_XATTRS);
	return lgetxattr(fd_path(&path, dir_fd, name), attribute, value, TAKER_XATTRS);
}

static bool is_wanted(const struct taker *w, const char *attribute)
{
	for (const char *const *prefix = w->options.xattr_prefixes; *prefix; prefix++) {
		if (strncmp(attribute, *prefix, strlen(*prefix)) == 0)
			return true;
	}
	return false;
}

/* The list takes the first part of the buffer, values the second. */
_Static_assert(TAKER_DATA >= 2 * TAKER_XATTRS, "a list and a value must fit");

void take_xattrs(struct taker *w, int fd, int dir_fd, const char *name, struct inode *inode)
{
	bool *unsupported = S_ISREG(inode->mode) || S_ISDIR(inode->mode) ? &w->no_xattrs :
									  &w->no_special_xattrs;
	char *list = w->data, *value = w->data + TAKER_XATTRS;
	ssize_t len, value_len;

	if (*unsupported || !(w->options.fields & TREE_XATTR))
		return;
	len = list_names(w, fd, dir_fd, name, list);
	if (len < 0 && errno == EOPNOTSUPP) {
		*unsupported = true;
		return;
	}
	if (len < 0) {
		object_fail(w, inode, "listxattr", errno);
		return;
	}
	for (const char *at = list; at < list + len; at += strlen(at) + 1) {
		if (!is_wanted(w, at))
			continue;
		value_len = get_value(fd, dir_fd, name, at, value);
		if (value_len < 0) {
			object_fail(w, inode, "getxattr", errno);
			return;
		}
		tree_set_xattr(w->tree, inode->ino, at, value, value_len);
	}
}
