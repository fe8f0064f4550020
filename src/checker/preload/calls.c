/* calls.c -- the calls of a checker that concern the disk, and are answered from shared memory.
 *
 * An open disk is a real descriptor of the same memory, so that whatever is not answered here
 * (fstat, ioctl, fcntl, flock) is answered by the kernel, as for any regular file. Only offsets are
 * our own. A descriptor that is duplicated shares its offset with the other. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload.h"

/* One open() of the disk. */
struct disk_file {
	uint64_t at;
	int access; /* O_RDONLY and the like */
	int users;  /* descriptors */
};

struct control *preload_control;
struct preload_next preload_found;
bool preload_has_found;
static struct disk_file files[PRELOAD_FDS];
static struct disk_file *by_fd[PRELOAD_FDS]; /* NULL: not the disk */
static int opened[2] = { -1, -1 };           /* for reading; for writing, too */

static void *preload_find(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		_exit(127);
	return found;
}

void preload_find_all(void)
{
#define FIND(name) preload_found.name = (__typeof__(preload_found.name))preload_find(#name);
	PRELOAD_FUNCTIONS(FIND)
#undef FIND
	preload_has_found = true;
}

__attribute__((constructor)) static void preload_attach(void)
{
	struct control *c;

	preload_next();
	if (!getenv(CONTROL_ENVIRONMENT))
		return;
	c = mmap(NULL, CONTROL_HEADER, PROT_READ, MAP_SHARED, CONTROL_FD, 0);
	if (c == MAP_FAILED)
		return;
	preload_control = mmap(NULL, control_bytes(c->capacity), PROT_READ | PROT_WRITE, MAP_SHARED,
			       CONTROL_FD, 0);
	munmap(c, CONTROL_HEADER);
	if (preload_control == MAP_FAILED)
		preload_control = NULL;
	else
		rewind_watch_exit();
}

static bool calls_names_disk(const char *path)
{
	return preload_control && path && !strcmp(path, CONTROL_DISK_PATH);
}

static struct disk_file *calls_file(int fd)
{
	return fd >= 0 && fd < PRELOAD_FDS ? by_fd[fd] : NULL;
}

static void calls_add(int fd, int flags)
{
	struct disk_file *file = files;

	if (fd < 0 || fd >= PRELOAD_FDS)
		return;
	while (file->users)
		file++;
	*file = (struct disk_file){ .access = flags & O_ACCMODE, .users = 1 };
	by_fd[fd] = file;
}

static void calls_drop(int fd)
{
	struct disk_file *file = calls_file(fd);

	if (!file)
		return;
	file->users--;
	by_fd[fd] = NULL;
}

/* The copy has the descriptor `to`. */
static void calls_share(int fd, int to)
{
	struct disk_file *file = calls_file(fd);

	if (to < 0 || to >= PRELOAD_FDS || to == fd)
		return;
	calls_drop(to);
	if (file)
		file->users++;
	by_fd[to] = file;
}

/* What a run opens are copies of these: the kernel takes longer to find the path. */
static void calls_open_once(void)
{
	for (int i = 0; i < 2; i++) {
		int fd = preload_next()->open(CONTROL_DISK_PATH, i ? O_RDWR : O_RDONLY);

		opened[i] = fcntl(fd, F_DUPFD_CLOEXEC, PRELOAD_FDS);
		preload_next()->close(fd);
		if (opened[i] < 0)
			_exit(127);
	}
}

static void calls_reach_disk(void)
{
	if (opened[0] >= 0)
		return;
	disk_map();
	calls_open_once();
	if (preload_control->serves && preload_control->program == syscall(SYS_getpid))
		serve_runs();
}

static int calls_open_disk(int flags)
{
	int fd;

	calls_reach_disk();
	fd = fcntl(opened[(flags & O_ACCMODE) != O_RDONLY],
		   flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
	if (fd < 0)
		return fd;
	calls_add(fd, flags);
	if (flags & O_TRUNC && disk_resize(0)) {
		preload_next()->close(fd);
		calls_drop(fd);
		return -1;
	}
	return fd;
}

/* ---- opening and closing ---- */

static bool calls_take_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name) \
	PRELOAD_EXPORT int name(const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		va_list args; \
\
		va_start(args, flags); \
		if (calls_take_mode(flags)) \
			mode = va_arg(args, mode_t); \
		va_end(args); \
		if (calls_names_disk(path)) \
			return calls_open_disk(flags); \
		return preload_next()->name(path, flags, mode); \
	}
#define OPENAT(name) \
	PRELOAD_EXPORT int name(int dir, const char *path, int flags, ...) \
	{ \
		mode_t mode = 0; \
		va_list args; \
\
		va_start(args, flags); \
		if (calls_take_mode(flags)) \
			mode = va_arg(args, mode_t); \
		va_end(args); \
		if (calls_names_disk(path)) \
			return calls_open_disk(flags); \
		return preload_next()->name(dir, path, flags, mode); \
	}
#define OPEN_2(name) \
	PRELOAD_EXPORT int name(const char *path, int flags) \
	{ \
		if (calls_names_disk(path)) \
			return calls_open_disk(flags); \
		return preload_next()->name(path, flags); \
	}
#define OPENAT_2(name) \
	PRELOAD_EXPORT int name(int dir, const char *path, int flags) \
	{ \
		if (calls_names_disk(path)) \
			return calls_open_disk(flags); \
		return preload_next()->name(dir, path, flags); \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
OPEN_2(__open_2)
OPEN_2(__open64_2)
OPENAT_2(__openat_2)
OPENAT_2(__openat64_2)

/* A stream reads and writes within the C library, where we do not see it. */
#define FOPEN(name) \
	PRELOAD_EXPORT FILE *name(const char *path, const char *mode) \
	{ \
		if (calls_names_disk(path)) { \
			calls_reach_disk(); \
			if (strpbrk(mode, "wa+")) \
				disk_lose_sight(); \
		} \
		return preload_next()->name(path, mode); \
	}
FOPEN(fopen)
FOPEN(fopen64)

PRELOAD_EXPORT FILE *fdopen(int fd, const char *mode)
{
	struct disk_file *file = calls_file(fd);

	if (file) {
		preload_next()->lseek(fd, (off_t)file->at, SEEK_SET);
		disk_lose_sight();
		calls_drop(fd);
	}
	return preload_next()->fdopen(fd, mode);
}

PRELOAD_EXPORT int close(int fd)
{
	calls_drop(fd);
	return preload_next()->close(fd);
}

PRELOAD_EXPORT int dup(int fd)
{
	int to = preload_next()->dup(fd);

	calls_share(fd, to);
	return to;
}

PRELOAD_EXPORT int dup2(int fd, int to)
{
	int ret = preload_next()->dup2(fd, to);

	if (to < CONTROL_FDS)
		rewind_spoil();
	calls_share(fd, ret);
	return ret;
}

PRELOAD_EXPORT int dup3(int fd, int to, int flags)
{
	int ret = preload_next()->dup3(fd, to, flags);

	if (to < CONTROL_FDS)
		rewind_spoil();
	calls_share(fd, ret);
	return ret;
}

/* ---- reading ---- */

static bool calls_may_read(const struct disk_file *file)
{
	if (file->access != O_WRONLY)
		return true;
	errno = EBADF;
	return false;
}

static bool calls_may_write(const struct disk_file *file)
{
	if (file->access != O_RDONLY)
		return true;
	errno = EBADF;
	return false;
}

static ssize_t calls_read_at(const struct disk_file *file, uint64_t at, void *to, size_t len)
{
	return calls_may_read(file) ? disk_read(at, to, len) : -1;
}

static ssize_t calls_write_at(const struct disk_file *file, uint64_t at, const void *from,
			      size_t len)
{
	return calls_may_write(file) ? disk_write(at, from, len) : -1;
}

static ssize_t calls_readv_at(const struct disk_file *file, uint64_t at, const struct iovec *parts,
			      int count)
{
	ssize_t sum = 0, n;

	for (int i = 0; i < count; i++) {
		n = calls_read_at(file, at + (uint64_t)sum, parts[i].iov_base, parts[i].iov_len);
		if (n < 0)
			return sum ? sum : n;
		sum += n;
		if ((size_t)n < parts[i].iov_len)
			break;
	}
	return sum;
}

static ssize_t calls_writev_at(const struct disk_file *file, uint64_t at, const struct iovec *parts,
			       int count)
{
	ssize_t sum = 0, n;

	for (int i = 0; i < count; i++) {
		n = calls_write_at(file, at + (uint64_t)sum, parts[i].iov_base, parts[i].iov_len);
		if (n < 0)
			return sum ? sum : n;
		sum += n;
		if ((size_t)n < parts[i].iov_len)
			break;
	}
	return sum;
}

/* By the descriptor's offset, which moves. */
static ssize_t calls_advance(struct disk_file *file, ssize_t n)
{
	if (n > 0)
		file->at += (uint64_t)n;
	return n;
}

PRELOAD_EXPORT ssize_t read(int fd, void *to, size_t len)
{
	struct disk_file *file = calls_file(fd);

	if (!file)
		return preload_next()->read(fd, to, len);
	return calls_advance(file, calls_read_at(file, file->at, to, len));
}

PRELOAD_EXPORT ssize_t write(int fd, const void *from, size_t len)
{
	struct disk_file *file = calls_file(fd);

	if (!file)
		return preload_next()->write(fd, from, len);
	return calls_advance(file, calls_write_at(file, file->at, from, len));
}

PRELOAD_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
	struct disk_file *file = calls_file(fd);

	if (!file)
		return preload_next()->readv(fd, parts, count);
	return calls_advance(file, calls_readv_at(file, file->at, parts, count));
}

PRELOAD_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	struct disk_file *file = calls_file(fd);

	if (!file)
		return preload_next()->writev(fd, parts, count);
	return calls_advance(file, calls_writev_at(file, file->at, parts, count));
}

#define PREAD(name) \
	PRELOAD_EXPORT ssize_t name(int fd, void *to, size_t len, off_t at) \
	{ \
		struct disk_file *file = calls_file(fd); \
\
		return file ? calls_read_at(file, (uint64_t)at, to, len) \
			    : preload_next()->name(fd, to, len, at); \
	}
#define PWRITE(name) \
	PRELOAD_EXPORT ssize_t name(int fd, const void *from, size_t len, off_t at) \
	{ \
		struct disk_file *file = calls_file(fd); \
\
		return file ? calls_write_at(file, (uint64_t)at, from, len) \
			    : preload_next()->name(fd, from, len, at); \
	}
#define VECTOR_AT(name, own) \
	PRELOAD_EXPORT ssize_t name(int fd, const struct iovec *parts, int count, off_t at) \
	{ \
		struct disk_file *file = calls_file(fd); \
\
		return file ? own(file, (uint64_t)at, parts, count) \
			    : preload_next()->name(fd, parts, count, at); \
	}
PREAD(pread)
PREAD(pread64)
PWRITE(pwrite)
PWRITE(pwrite64)
VECTOR_AT(preadv, calls_readv_at)
VECTOR_AT(preadv64, calls_readv_at)
VECTOR_AT(pwritev, calls_writev_at)
VECTOR_AT(pwritev64, calls_writev_at)

/* As the compiler calls them where it knows how much room there is. */
PRELOAD_EXPORT ssize_t __read_chk(int fd, void *to, size_t len, size_t room);
PRELOAD_EXPORT ssize_t __read_chk(int fd, void *to, size_t len, size_t room)
{
	if (len > room)
		abort();
	return read(fd, to, len);
}

#define PREAD_CHK(name) \
	PRELOAD_EXPORT ssize_t name(int fd, void *to, size_t len, off_t at, size_t room); \
	PRELOAD_EXPORT ssize_t name(int fd, void *to, size_t len, off_t at, size_t room) \
	{ \
		if (len > room) \
			abort(); \
		return pread(fd, to, len, at); \
	}
PREAD_CHK(__pread_chk)
PREAD_CHK(__pread64_chk)

/* ---- the offset, the size, and what a disk in memory has no need of ---- */

static off_t calls_seek(struct disk_file *file, off_t by, int whence)
{
	off_t at = by;

	if (whence == SEEK_CUR)
		at += (off_t)file->at;
	else if (whence == SEEK_END)
		at += (off_t)preload_control->disk_size;
	if ((whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) || at < 0) {
		errno = EINVAL;
		return -1;
	}
	file->at = (uint64_t)at;
	return at;
}

#define LSEEK(name) \
	PRELOAD_EXPORT off_t name(int fd, off_t by, int whence) \
	{ \
		struct disk_file *file = calls_file(fd); \
\
		return file ? calls_seek(file, by, whence) : preload_next()->name(fd, by, whence); \
	}
LSEEK(lseek)
LSEEK(lseek64)

static int calls_truncate(const struct disk_file *file, off_t size)
{
	if (file->access == O_RDONLY || size < 0) {
		errno = EINVAL;
		return -1;
	}
	return disk_resize((uint64_t)size);
}

#define FTRUNCATE(name) \
	PRELOAD_EXPORT int name(int fd, off_t size) \
	{ \
		struct disk_file *file = calls_file(fd); \
\
		return file ? calls_truncate(file, size) : preload_next()->name(fd, size); \
	}
FTRUNCATE(ftruncate)
FTRUNCATE(ftruncate64)

/* Zeroes within the disk are stored, whether it is to have a hole there or not. */
static bool calls_zeroes(int mode, off_t at, off_t len)
{
	return (mode & (FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE)) &&
	       (uint64_t)(at + len) <= preload_control->disk_size;
}

/* Whatever else is wanted, the kernel does; the size may grow. */
#define FALLOCATE(name) \
	PRELOAD_EXPORT int name(int fd, int mode, off_t at, off_t len) \
	{ \
		struct disk_file *file = calls_file(fd); \
		int ret; \
\
		if (!file) \
			return preload_next()->name(fd, mode, at, len); \
		if (at < 0 || len <= 0 || (uint64_t)at > preload_control->capacity || \
		    (uint64_t)len > preload_control->capacity - (uint64_t)at) { \
			errno = at < 0 || len <= 0 ? EINVAL : EFBIG; \
			return -1; \
		} \
		if (calls_may_write(file) && calls_zeroes(mode, at, len)) \
			return disk_zero((uint64_t)at, (uint64_t)len); \
		disk_lose_sight(); \
		ret = preload_next()->name(fd, mode, at, len); \
		if (!ret && !(mode & FALLOC_FL_KEEP_SIZE) && \
		    (uint64_t)(at + len) > preload_control->disk_size) \
			ret = disk_resize((uint64_t)(at + len)); \
		return ret; \
	}
FALLOCATE(fallocate)
FALLOCATE(fallocate64)

#define MMAP(name) \
	PRELOAD_EXPORT void *name(void *addr, size_t len, int prot, int flags, int fd, off_t at) \
	{ \
		if (calls_file(fd) && flags & MAP_SHARED && calls_file(fd)->access != O_RDONLY) \
			disk_lose_sight(); \
		return preload_next()->name(addr, len, prot, flags, fd, at); \
	}
MMAP(mmap)
MMAP(mmap64)

PRELOAD_EXPORT int fsync(int fd)
{
	return calls_file(fd) ? 0 : preload_next()->fsync(fd);
}

PRELOAD_EXPORT int fdatasync(int fd)
{
	return calls_file(fd) ? 0 : preload_next()->fdatasync(fd);
}

PRELOAD_EXPORT int syncfs(int fd)
{
	return calls_file(fd) ? 0 : preload_next()->syncfs(fd);
}

/* All disks of the machine have no part in it. */
PRELOAD_EXPORT void sync(void)
{
	if (!preload_control)
		preload_next()->sync();
}

#define FADVISE(name) \
	PRELOAD_EXPORT int name(int fd, off_t at, off_t len, int advice) \
	{ \
		return calls_file(fd) ? 0 : preload_next()->name(fd, at, len, advice); \
	}
FADVISE(posix_fadvise)
FADVISE(posix_fadvise64)

PRELOAD_EXPORT ssize_t readahead(int fd, off_t at, size_t len)
{
	return calls_file(fd) ? 0 : preload_next()->readahead(fd, at, len);
}
