/* remove_tree.c -- removes what scripts made. Costs two system calls for most objects; the way
 * round is only for what refuses. Takes one descriptor for each level of depth. */
#include "storage/remove_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"

enum { ENTRIES_BYTES = 4096, PASSES_MAX = 1000 };

/* Immutable and append-only objects keep their names. */
static void drop_flags(int fd)
{
	unsigned flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) || !(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)))
		return;
	flags &= ~(unsigned)(FS_IMMUTABLE_FL | FS_APPEND_FL);
	ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

/* Takes away what may keep an entry from being removed, or a directory from being read. */
static void drop_obstacles(int dir, const char *name)
{
	int fd;

	drop_flags(dir);
	fchmod(dir, S_IRWXU);
	/* Flags that drop_flags() takes away below may forbid it: it is only an attempt. */
	(void)!fchmodat(dir, name, S_IRWXU, AT_SYMLINK_NOFOLLOW);
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	drop_flags(fd);
	close(fd);
}

static int remove_entries(int dir, size_t *ret_found);

/* What is mounted below is not ours: EXDEV. */
static int open_below(int dir, const char *name)
{
	struct open_how how = {
		.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

/* Empties a directory until its name can be removed. Some file systems skip entries while others
 * are removed, so that takes more than one pass; one that removes nothing must not keep us. */
static int remove_full_directory(int dir, const char *name, int fd)
{
	size_t found;
	int error;

	for (int passes = 0; passes < PASSES_MAX; passes++) {
		error = remove_entries(fd, &found);
		if (error || !unlinkat(dir, name, AT_REMOVEDIR))
			return error;
		if (errno != ENOTEMPTY && errno != EEXIST)
			drop_obstacles(dir, name);
		lseek(fd, 0, SEEK_SET);
	}
	return -errno;
}

/* Also one that its owner may not read. */
static int open_directory(int dir, const char *name)
{
	int fd = open_below(dir, name);

	if (fd < 0) {
		drop_obstacles(dir, name);
		fd = open_below(dir, name);
	}
	return fd;
}

static int remove_directory(int dir, const char *name)
{
	int fd, error;

	if (!unlinkat(dir, name, AT_REMOVEDIR))
		return 0;
	fd = open_directory(dir, name);
	if (fd < 0)
		return -errno;
	error = remove_full_directory(dir, name, fd);
	close(fd);
	return error;
}

static int remove_other(int dir, const char *name)
{
	if (!unlinkat(dir, name, 0))
		return 0;
	if (errno == EISDIR)
		return remove_directory(dir, name);
	drop_obstacles(dir, name);
	return unlinkat(dir, name, 0) ? -errno : 0;
}

static int remove_entry(int dir, const struct dirent64 *entry)
{
	const char *name = entry->d_name;

	return entry->d_type == DT_DIR ? remove_directory(dir, name) : remove_other(dir, name);
}

/* One pass over the directory; *ret_found counts the entries it has removed. */
static int remove_entries(int dir, size_t *ret_found)
{
	_Alignas(8) char entries[ENTRIES_BYTES];
	const struct dirent64 *entry;
	long len;
	int error;

	*ret_found = 0;
	while ((len = syscall(SYS_getdents64, dir, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < len; at += entry->d_reclen) {
			entry = (const struct dirent64 *)(entries + at);
			if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
				continue;
			/* A name that is listed, and not there, is not ours to remove. */
			error = remove_entry(dir, entry);
			if (error && error != -ENOENT)
				return error;
			*ret_found += !error;
		}
	}
	return len < 0 ? -errno : 0;
}

void remove_attributes(int fd)
{
	static char names[XATTR_LIST_MAX]; /* more than the stack of a kernel takes */
	ssize_t len;

	drop_flags(fd);
	len = flistxattr(fd, names, sizeof(names));
	for (char *name = names; len > 0 && name < names + len; name += strlen(name) + 1)
		fremovexattr(fd, name);
}

int remove_tree_below(int dir_fd, struct err *err)
{
	int fd = open_directory(dir_fd, "."), error, passes = 0;
	size_t found;

	if (fd < 0)
		return err_sys(err, errno, "cannot read the directory of the test");
	remove_attributes(fd);
	do {
		error = remove_entries(fd, &found);
		lseek(fd, 0, SEEK_SET);
	} while (!error && found && ++passes < PASSES_MAX);
	close(fd);
	if (!error && found)
		error = -ENOTEMPTY;
	return error ? err_sys(err, -error, "cannot empty the directory of the test") : 0;
}
