/* scan_xattr.c -- the extended attributes of an object on its file system. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/must.h"
#include "tree/scanner.h"

#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#define SYS_listxattrat 465
#endif

enum { OFFERED_FIRST = 256 };

/* Goes to the directory for one call by name, where the kernel has none by descriptor. /proc
 * would do too, but a process after chroot does not have it. */
static ssize_t xattr_visit(int dir_fd, const char *name, const char *attribute, char *to)
{
	int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC), error;
	ssize_t n = -1;

	if (back < 0)
		return -1;
	if (!fchdir(dir_fd)) {
		n = attribute ? lgetxattr(name, attribute, to, SCANNER_XATTRS)
			      : llistxattr(name, to, SCANNER_XATTRS);
		error = errno;
		must(!fchdir(back));
		errno = error;
	}
	error = errno;
	close(back);
	errno = error;
	return n;
}

static ssize_t list_into(struct scanner *w, int fd, int dir_fd, const char *name, char *list,
			 size_t size)
{
	ssize_t n;

	if (fd >= 0)
		return flistxattr(fd, list, size);
	if (!w->no_xattrat) {
		n = syscall(SYS_listxattrat, dir_fd, name, AT_SYMLINK_NOFOLLOW, list, size);
		if (n >= 0 || errno != ENOSYS)
			return n;
		w->no_xattrat = true;
	}
	return xattr_visit(dir_fd, name, NULL, list);
}

/* The kernel allocates and clears as much as it is offered, so little is offered first. */
static ssize_t xattr_list_names(struct scanner *w, int fd, int dir_fd, const char *name, char *list)
{
	ssize_t n = list_into(w, fd, dir_fd, name, list, OFFERED_FIRST);

	if (n < 0 && errno == ERANGE)
		n = list_into(w, fd, dir_fd, name, list, SCANNER_XATTRS);
	return n;
}

static ssize_t value_into(struct scanner *w, int fd, int dir_fd, const char *name,
			  const char *attribute, char *value, size_t size)
{
	struct {
		uint64_t value __attribute__((aligned(8)));
		uint32_t size, flags;
	} args = { (uint64_t)(uintptr_t)value, (uint32_t)size, 0 };

	if (fd >= 0)
		return fgetxattr(fd, attribute, value, size);
	if (w->no_xattrat)
		return xattr_visit(dir_fd, name, attribute, value);
	return syscall(SYS_getxattrat, dir_fd, name, AT_SYMLINK_NOFOLLOW, attribute, &args,
		       sizeof(args));
}

static ssize_t xattr_get_value(struct scanner *w, int fd, int dir_fd, const char *name,
			       const char *attribute, char *value)
{
	ssize_t n = value_into(w, fd, dir_fd, name, attribute, value, OFFERED_FIRST);

	if (n < 0 && errno == ERANGE)
		n = value_into(w, fd, dir_fd, name, attribute, value, SCANNER_XATTRS);
	return n;
}

static bool is_wanted(const struct scanner *w, const char *attribute)
{
	/* XFS lists access control lists a second time, as it stores them. */
	static const char stored_acl[] = "trusted.SGI_ACL_";

	if (strncmp(attribute, stored_acl, sizeof(stored_acl) - 1) == 0)
		return false;
	for (const char *const *prefix = w->options.xattr_prefixes; *prefix; prefix++) {
		if (strncmp(attribute, *prefix, strlen(*prefix)) == 0)
			return true;
	}
	return false;
}

/* The list takes the first part of the buffer, values the second. */
_Static_assert(SCANNER_DATA >= 2 * SCANNER_XATTRS, "a list and a value must fit");

void scan_xattrs(struct scanner *w, int fd, int dir_fd, const char *name, struct inode *inode)
{
	bool *unsupported = S_ISREG(inode->mode) || S_ISDIR(inode->mode) ? &w->no_xattrs
									 : &w->no_special_xattrs;
	char *list = w->data, *value = w->data + SCANNER_XATTRS;
	ssize_t len, value_len;

	if (*unsupported || !(w->options.fields & TREE_XATTR))
		return;
	len = xattr_list_names(w, fd, dir_fd, name, list);
	if (len < 0 && errno == EOPNOTSUPP) {
		*unsupported = true;
		return;
	}
	if (len < 0) {
		object_fail(w, inode, "listxattr", errno);
		return;
	}
	for (const char *at = list, *next; at < list + len; at = next) {
		next = at + strnlen(at, (size_t)(list + len - at)) + 1;
		if (next > list + len || tree_xattr(inode, at)) { /* no end, or there already */
			object_fail(w, inode, "listxattr", next > list + len ? EUCLEAN : EEXIST);
			return;
		}
		if (!is_wanted(w, at))
			continue;
		value_len = xattr_get_value(w, fd, dir_fd, name, at, value);
		if (value_len < 0) {
			object_fail(w, inode, "getxattr", errno);
			return;
		}
		tree_set_xattr(w->tree, inode->ino, at, value, value_len);
	}
}
