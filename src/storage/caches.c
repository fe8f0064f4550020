/* caches.c -- making the kernel forget what it holds of a file system in memory.
 *
 * Inodes go only once their pages are gone, so pages are dropped first, file by file: dropping
 * those of the whole machine would slow down all others. */
#include "storage/caches.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/must.h"

enum { DEPTH_MAX = 64 };

static const char control[] = "/proc/sys/vm/drop_caches";

struct caches {
	int control_fd;
};

bool caches_can_drop(void)
{
	return !access(control, W_OK) && !geteuid();
}

struct caches *caches_open(void)
{
	struct caches *c = must_alloc(sizeof(*c));

	c->control_fd = open(control, O_WRONLY | O_CLOEXEC);
	return c;
}

static void drop_pages(int dir_fd, unsigned depth);

static void drop_object(int dir_fd, const char *name, unsigned depth)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME;
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) ||
	    !(S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)))
		return;
	fd = openat(dir_fd, name, flags);
	if (fd < 0)
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
		drop_pages(fd, depth + 1);
	close(fd);
}

static void drop_pages(int dir_fd, unsigned depth)
{
	int own = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *entry;

	if (!dir) {
		if (own >= 0)
			close(own);
		return;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			drop_object(dir_fd, entry->d_name, depth);
	closedir(dir);
}

int caches_drop(struct caches *c, int root_fd)
{
	if (syncfs(root_fd))
		return -errno;
	drop_pages(root_fd, 0);
	if (c->control_fd >= 0 && write(c->control_fd, "2", 1) < 0)
		return -errno;
	return 0;
}
