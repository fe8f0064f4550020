/* tidy.c -- removing what a test left in a directory of ours. */
#include "storage/tidy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"

enum { DEPTH_MAX = 256, LIST_MAX = 64 * 1024 };

static const int open_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

/* Flags that keep an object from being removed. */
static void clear_flags(int fd)
{
	int flags;

	if (!ioctl(fd, FS_IOC_GETFLAGS, &flags) && flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)) {
		flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
}

/* Only directories and plain files have flags; opening others might wait or act. */
static void clear_flags_of(int dir_fd, const char *name)
{
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return;
	fd = openat(dir_fd, name, open_flags);
	if (fd < 0)
		return;
	clear_flags(fd);
	close(fd);
}

static int remove_name(int dir_fd, const char *name, int flags)
{
	if (!unlinkat(dir_fd, name, flags) || errno == ENOENT)
		return 0;
	if (errno != EPERM && errno != EACCES)
		return -errno;
	clear_flags(dir_fd);
	clear_flags_of(dir_fd, name);
	fchmod(dir_fd, S_IRWXU);
	return !unlinkat(dir_fd, name, flags) || errno == ENOENT ? 0 : -errno;
}

static int empty(int dir_fd, dev_t dev, unsigned depth);

static int remove_directory(int dir_fd, const char *name, dev_t dev, unsigned depth)
{
	struct stat st;
	int fd = openat(dir_fd, name, open_flags | O_DIRECTORY), ret;

	if (fd < 0 && errno == EACCES && !fchmodat(dir_fd, name, S_IRWXU, 0))
		fd = openat(dir_fd, name, open_flags | O_DIRECTORY);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st))
		ret = -errno;
	else if (st.st_dev != dev)
		ret = -EXDEV;
	else
		ret = empty(fd, dev, depth + 1);
	close(fd);
	return ret ? ret : remove_name(dir_fd, name, AT_REMOVEDIR);
}

static int remove_object(int dir_fd, const char *name, dev_t dev, unsigned depth)
{
	int ret = remove_name(dir_fd, name, 0);

	/* POSIX's answer for a directory is EPERM, Linux's EISDIR. */
	return ret == -EISDIR || ret == -EPERM ? remove_directory(dir_fd, name, dev, depth) : ret;
}

/* All names are read before any is removed: a stream may not survive changes. */
static int list(int dir_fd, struct buf *names)
{
	int own = openat(dir_fd, ".", open_flags | O_DIRECTORY);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;

	if (!dir) {
		if (own >= 0)
			close(own);
		return -errno;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			buf_add(names, entry->d_name, strlen(entry->d_name) + 1);
	closedir(dir);
	return 0;
}

static int empty(int dir_fd, dev_t dev, unsigned depth)
{
	struct buf names = BUF_INIT;
	int ret;

	if (depth > DEPTH_MAX)
		return -ELOOP;
	if (fchmod(dir_fd, S_IRWXU) && errno == EPERM)
		clear_flags(dir_fd);
	ret = list(dir_fd, &names);
	for (size_t at = 0; at < names.len && !ret; at += strlen(names.data + at) + 1)
		ret = remove_object(dir_fd, names.data + at, dev, depth);
	buf_free(&names);
	return ret;
}

int tidy_below(int dir_fd, struct err *err)
{
	struct stat st;
	int ret = fstat(dir_fd, &st) ? -errno : empty(dir_fd, st.st_dev, 0);

	return ret ? err_sys(err, -ret, "cannot empty the directory of the test") : 0;
}

static void remove_xattrs(int fd)
{
	struct buf names = BUF_INIT;
	ssize_t len;

	buf_reserve(&names, LIST_MAX);
	len = flistxattr(fd, names.data, LIST_MAX);
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names.data + at) + 1)
		if (!strncmp(names.data + at, "user.", 5) ||
		    !strncmp(names.data + at, "trusted.", 8))
			fremovexattr(fd, names.data + at);
	buf_free(&names);
}

int tidy_directory(int dir_fd, unsigned mode, struct err *err)
{
	struct stat st;

	clear_flags(dir_fd);
	remove_xattrs(dir_fd);
	if (fstat(dir_fd, &st))
		return err_sys(err, errno, "cannot look at the directory of the test");
	if ((st.st_uid != geteuid() || st.st_gid != getegid()) &&
	    fchown(dir_fd, geteuid(), getegid()))
		return err_sys(err, errno, "cannot own the directory of the test");
	if (fchmod(dir_fd, mode))
		return err_sys(err, errno, "cannot set the mode of the test's directory");
	return 0;
}
