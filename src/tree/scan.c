/* scan.c -- the objects of a mounted directory: files, symbolic links, and whatever else.
 *
 * Only directories and regular files with contents are opened, never through a link, without
 * waiting and, where allowed, without touching access times. A walk is one statx an object, open,
 * read and close where there are contents, and one call for the names of attributes. */
#include "tree/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tree/data.h"
#include "tree/inode.h"
#include "tree/scanner.h"

static const char *const default_prefixes[] = { "user.", "trusted.", NULL };

struct scanner *scanner_new(const struct scan_options *options)
{
	struct scanner *w = must_alloc(sizeof(*w));

	w->options = *options;
	if (!w->options.xattr_prefixes)
		w->options.xattr_prefixes = default_prefixes;
	w->data = must_realloc(NULL, SCANNER_DATA);
	w->open_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOATIME;
	return w;
}

void scanner_free(struct scanner *w)
{
	if (!w)
		return;
	buf_free(&w->dents);
	free(w->levels);
	free(w->data);
	free(w);
}

int open_object(struct scanner *w, int dir_fd, const char *name, int flags)
{
	int fd = openat(dir_fd, name, w->open_flags | flags);

	if (fd < 0 && errno == EPERM && w->open_flags & O_NOATIME) {
		w->open_flags &= ~O_NOATIME;
		fd = openat(dir_fd, name, w->open_flags | flags);
	}
	if (fd < 0 && (errno == EMFILE || errno == ENFILE))
		w->error = err_sys(w->err, errno, "no descriptor left to open %s", name);
	return fd;
}

static int64_t statx_nanoseconds(struct statx_timestamp time)
{
	int64_t ns;

	if (__builtin_mul_overflow(time.tv_sec, (int64_t)1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)time.tv_nsec, &ns))
		return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

void set_attributes(struct inode *inode, const struct statx *st)
{
	inode->mode = st->stx_mode;
	inode->uid = st->stx_uid;
	inode->gid = st->stx_gid;
	inode->nlink = st->stx_nlink;
	if (st->stx_attributes & STATX_ATTR_IMMUTABLE)
		inode->flags |= FS_IMMUTABLE_FL;
	if (st->stx_attributes & STATX_ATTR_APPEND)
		inode->flags |= FS_APPEND_FL;
	if (S_ISREG(st->stx_mode))
		inode->size = st->stx_size;
	inode->rdev = (uint32_t)makedev(st->stx_rdev_major, st->stx_rdev_minor);
	inode->times.access = statx_nanoseconds(st->stx_atime);
	inode->times.modify = statx_nanoseconds(st->stx_mtime);
	inode->times.change = statx_nanoseconds(st->stx_ctime);
	inode->times.birth = statx_nanoseconds(st->stx_btime);
}

/* A directory fails before it has entries, or not at all. */
void object_fail(struct scanner *w, struct inode *inode, const char *call, int code)
{
	if (S_ISREG(inode->mode))
		data_punch(w->tree, inode, 0, DATA_END);
	else if (S_ISLNK(inode->mode))
		blob_drop(inode->target);
	inode->mode &= ~S_IFMT;
	inode->error.code = code;
	snprintf(inode->error.call, sizeof(inode->error.call), "%s", call);
}

void add_error(struct scanner *w, uint64_t dir, const char *name, const char *call, int code)
{
	struct inode *inode = inode_add(w->tree, w->next_fresh++, 0);

	name_add(w->tree, dir, name, strlen(name), inode->ino);
	object_fail(w, inode, call, code);
}

/* Has so much been read of a file that it is enough? */
static bool is_too_much(struct scanner *w)
{
	if (!w->options.bytes_max || w->file_bytes <= w->options.bytes_max)
		return false;
	if (!w->options.bounded)
		w->error = err_set(w->err, EOVERFLOW, "a file has more than %llu bytes of data",
				   (unsigned long long)w->options.bytes_max);
	return true;
}

/* Where the last part of a range begins that is read in any case. */
static uint64_t tail_of(uint64_t from, uint64_t to)
{
	return to - from > SCAN_TAIL ? to - SCAN_TAIL : from;
}

/* Reads a range of the file into the tree, up to its end; false if it became an error. */
static bool scan_range(struct scanner *w, int fd, struct inode *file, uint64_t from, uint64_t to)
{
	bool enough = is_too_much(w);

	if (enough)
		from = tail_of(from, to);
	while (from < to && !w->error) {
		/* One byte more than there should be shows a file longer than its size. */
		uint64_t want = to - from + (to == file->size);
		ssize_t n = pread(fd, w->data, want < SCANNER_DATA ? want : SCANNER_DATA, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || (uint64_t)n > to - from) {
			object_fail(w, file, "read", n < 0 ? errno : n ? EFBIG : ENODATA);
			return false;
		}
		data_renew(w->tree, file, from, w->data, n);
		from += n;
		w->file_bytes += n;
		if (!enough && is_too_much(w)) {
			enough = true;
			from = tail_of(from, to);
		}
	}
	return !w->error;
}

/* A large file may be mostly holes: reads what lies between them. */
static bool scan_sparse(struct scanner *w, int fd, struct inode *file)
{
	off_t data = lseek(fd, 0, SEEK_DATA), hole;

	while (data >= 0 && (uint64_t)data < file->size) {
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data || (uint64_t)hole > file->size)
			hole = file->size;
		if (!scan_range(w, fd, file, data, hole))
			return false;
		data = lseek(fd, hole, SEEK_DATA);
	}
	if (data >= 0 || errno == ENXIO)
		return true;
	if (errno == EINVAL || errno == EOPNOTSUPP) /* it does not report holes */
		return scan_range(w, fd, file, 0, file->size);
	object_fail(w, file, "lseek", errno);
	return false;
}

/* What is known of the contents of a file: all of them, or most where it is read as a whole. */
static const struct inode *scan_known_file(const struct scanner *w, const struct inode *file,
					   bool *ret_all)
{
	const struct inode *known = w->known ? tree_inode(w->known, file->ino) : NULL;

	if (!known || !S_ISREG(known->mode))
		return NULL;
	*ret_all = w->keeps_contents && known->size == file->size;
	return *ret_all || file->size < SCANNER_DATA ? known : NULL;
}

static void scan_file(struct scanner *w, int dir_fd, const char *name, struct inode *file)
{
	bool all = false;
	const struct inode *known = scan_known_file(w, file, &all);
	int fd;

	if (known)
		data_share(w->tree, file, known);
	if (file->size == 0 || all) {
		scan_xattrs(w, -1, dir_fd, name, file);
		return;
	}
	fd = open_object(w, dir_fd, name, 0);
	if (fd < 0) {
		object_fail(w, file, "open", errno);
		return;
	}
	w->file_bytes = 0;
	if (file->size < SCANNER_DATA ? scan_range(w, fd, file, 0, file->size)
				      : scan_sparse(w, fd, file))
		scan_xattrs(w, fd, dir_fd, name, file);
	close(fd);
}

static void scan_link(struct scanner *w, int dir_fd, const char *name, struct inode *link)
{
	ssize_t n = readlinkat(dir_fd, name, w->data, SCANNER_DATA);

	if (n < 0) {
		object_fail(w, link, "readlink", errno);
		return;
	}
	tree_set_target(w->tree, link->ino, w->data, n);
	scan_xattrs(w, -1, dir_fd, name, link);
}

void scan_other(struct scanner *w, int dir_fd, const char *name, struct inode *inode,
		const struct statx *st)
{
	set_attributes(inode, st);
	if (S_ISREG(inode->mode))
		scan_file(w, dir_fd, name, inode);
	else if (S_ISLNK(inode->mode))
		scan_link(w, dir_fd, name, inode);
	else
		scan_xattrs(w, -1, dir_fd, name, inode);
}
