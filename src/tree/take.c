/* take.c -- the tree of a mounted directory, by a walk over descriptors.
 *
 * Only directories and regular files with contents are opened, never through a link, without
 * waiting and, where allowed, without touching access times. A walk is one statx an object, open,
 * read and close where there are contents, and one call for the names of attributes. */
#include "tree/take.h"

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
#include "tree/taker.h"

/* Numbers for objects that have none of their own: errors, repetitions. */
static const uint64_t first_fresh_ino = (uint64_t)1 << 62;

/* Stands in a directory that gave a name twice; no object can be called so. */
static const char name_listed_twice[] = "/twice";

static const char *const default_prefixes[] = { "user.", "trusted.", NULL };

struct taker *taker_new(const struct take_options *options)
{
	struct taker *w = must_alloc(sizeof(*w));

	w->options = *options;
	if (!w->options.xattr_prefixes)
		w->options.xattr_prefixes = default_prefixes;
	w->data = must_realloc(NULL, TAKER_DATA);
	w->open_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOATIME;
	return w;
}

void taker_free(struct taker *w)
{
	if (!w)
		return;
	buf_free(&w->dents);
	free(w->data);
	free(w);
}

/* Opens without touching the access time, which is for owners; others go without. */
static int open_object(struct taker *w, int dir_fd, const char *name, int flags)
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

static int64_t nanoseconds(struct statx_timestamp time)
{
	int64_t ns;

	if (__builtin_mul_overflow(time.tv_sec, (int64_t)1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)time.tv_nsec, &ns))
		return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static void set_attributes(struct inode *inode, const struct statx *st)
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
	inode->times.access = nanoseconds(st->stx_atime);
	inode->times.modify = nanoseconds(st->stx_mtime);
	inode->times.change = nanoseconds(st->stx_ctime);
	inode->times.birth = nanoseconds(st->stx_btime);
}

/* What identifies an object in the tree. Numbers of another device, and those that stand for
 * the root, are moved out of the way. */
static uint64_t identity(const struct taker *w, const struct statx *st)
{
	uint64_t key[2] = { makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino };

	if (key[0] == w->root_dev && key[1] == w->root_ino)
		return TREE_ROOT;
	if (key[0] == w->root_dev && key[1] > TREE_ROOT && key[1] < first_fresh_ino)
		return key[1];
	return hash64(key, sizeof(key), 0) | (uint64_t)1 << 63;
}

/* A directory fails before it has entries, or not at all. */
void object_fail(struct taker *w, struct inode *inode, const char *call, int code)
{
	if (S_ISREG(inode->mode))
		data_punch(w->tree, inode, 0, DATA_END);
	else if (S_ISLNK(inode->mode))
		blob_drop(inode->target);
	inode->mode &= ~S_IFMT;
	inode->error.code = code;
	snprintf(inode->error.call, sizeof(inode->error.call), "%s", call);
}

/* An object of which nothing is known but what went wrong. */
static void add_error(struct taker *w, uint64_t dir, const char *name, const char *call, int code)
{
	struct inode *inode = inode_add(w->tree, w->next_fresh++, 0);

	name_add(w->tree, dir, name, strlen(name), inode->ino);
	object_fail(w, inode, call, code);
}

/* Reads a range of the file into the tree, up to its end; false if it became an error. */
static bool take_range(struct taker *w, int fd, struct inode *file, uint64_t from, uint64_t to)
{
	while (from < to) {
		/* One byte more than there should be shows a file longer than its size. */
		uint64_t want = to - from + (to == file->size);
		ssize_t n = pread(fd, w->data, want < TAKER_DATA ? want : TAKER_DATA, from);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || (uint64_t)n > to - from) {
			object_fail(w, file, "read", n < 0 ? errno : n ? EFBIG : ENODATA);
			return false;
		}
		data_write(w->tree, file, from, w->data, n);
		from += n;
		w->file_bytes += n;
		if (w->options.bytes_max && w->file_bytes > w->options.bytes_max) {
			w->error = err_set(w->err, EOVERFLOW,
					   "a file has more than %llu bytes of data",
					   (unsigned long long)w->options.bytes_max);
			return false;
		}
	}
	return true;
}

/* A large file may be mostly holes: reads what lies between them. */
static bool take_sparse(struct taker *w, int fd, struct inode *file)
{
	off_t data = lseek(fd, 0, SEEK_DATA), hole;

	while (data >= 0 && (uint64_t)data < file->size) {
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole <= data || (uint64_t)hole > file->size)
			hole = file->size;
		if (!take_range(w, fd, file, data, hole))
			return false;
		data = lseek(fd, hole, SEEK_DATA);
	}
	if (data >= 0 || errno == ENXIO)
		return true;
	if (errno == EINVAL || errno == EOPNOTSUPP) /* it does not tell holes */
		return take_range(w, fd, file, 0, file->size);
	object_fail(w, file, "lseek", errno);
	return false;
}

static void take_file(struct taker *w, int dir_fd, const char *name, struct inode *file)
{
	int fd;

	if (file->size == 0) {
		take_xattrs(w, -1, dir_fd, name, file);
		return;
	}
	fd = open_object(w, dir_fd, name, 0);
	if (fd < 0) {
		object_fail(w, file, "open", errno);
		return;
	}
	w->file_bytes = 0;
	if (file->size < TAKER_DATA ? take_range(w, fd, file, 0, file->size) :
				      take_sparse(w, fd, file))
		take_xattrs(w, fd, dir_fd, name, file);
	close(fd);
}

static void take_link(struct taker *w, int dir_fd, const char *name, struct inode *link)
{
	ssize_t n = readlinkat(dir_fd, name, w->data, TAKER_DATA);

	if (n < 0) {
		object_fail(w, link, "readlink", errno);
		return;
	}
	tree_set_target(w->tree, link->ino, w->data, n);
	take_xattrs(w, -1, dir_fd, name, link);
}

/* All entries of an open directory, behind what is in w->dents; returns 0 or an errno. */
static int read_entries(struct taker *w, int fd)
{
	ssize_t n;

	do {
		buf_reserve(&w->dents, TAKER_DENTS);
		n = getdents64(fd, w->dents.data + w->dents.len, TAKER_DENTS);
		if (n > 0)
			w->dents.len += n;
	} while (n > 0);
	return n < 0 ? errno : 0;
}

static void take_object(struct taker *w, int dir_fd, uint64_t dir, const char *name,
			unsigned depth);

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool is_lost_found(const struct taker *w, uint64_t dir, const char *name)
{
	return dir == TREE_ROOT && !w->options.lost_found && strcmp(name, "lost+found") == 0;
}

/* The objects in a directory, its entries being those in w->dents from `start` on. */
static void take_entries(struct taker *w, int fd, uint64_t dir, size_t start, unsigned depth)
{
	size_t end = w->dents.len, reclen;

	for (size_t at = start; at < end && !w->error; at += reclen) {
		/* The buffer may move when a directory below is read. */
		const struct dirent64 *entry = (const struct dirent64 *)(w->dents.data + at);

		reclen = entry->d_reclen;
		if (is_dots(entry->d_name))
			continue;
		if (is_lost_found(w, dir, entry->d_name))
			tree_edit(w->tree, dir)->nlink--;
		else
			take_object(w, fd, dir, entry->d_name, depth);
	}
	w->dents.len = start;
}

static void take_dir(struct taker *w, int dir_fd, uint64_t dir, const char *name,
		     const struct statx *st, unsigned depth)
{
	uint64_t ino = identity(w, st);
	size_t start = w->dents.len;
	struct inode *inode;
	int fd, error;

	if (tree_inode(w->tree, ino)) { /* a directory with two names would have no end */
		add_error(w, dir, name, "walk", ELOOP);
		return;
	}
	inode = inode_add(w->tree, ino, st->stx_mode);
	name_add(w->tree, dir, name, strlen(name), ino);
	set_attributes(inode, st);
	fd = open_object(w, dir_fd, name, O_DIRECTORY);
	if (fd < 0) {
		object_fail(w, inode, "open", errno);
		return;
	}
	error = read_entries(w, fd);
	if (error)
		object_fail(w, inode, "getdents", error);
	else
		take_xattrs(w, fd, -1, NULL, inode);
	if (S_ISDIR(inode->mode))
		take_entries(w, fd, ino, start, depth + 1);
	w->dents.len = start;
	close(fd);
}

/* An object that is not a directory, met for the first time. */
static void take_other(struct taker *w, int dir_fd, const char *name, struct inode *inode,
		       const struct statx *st)
{
	set_attributes(inode, st);
	if (S_ISREG(inode->mode))
		take_file(w, dir_fd, name, inode);
	else if (S_ISLNK(inode->mode))
		take_link(w, dir_fd, name, inode);
	else
		take_xattrs(w, -1, dir_fd, name, inode);
}

static bool within_limits(struct taker *w, unsigned depth)
{
	if (w->options.objects_max && w->objects++ >= w->options.objects_max)
		w->error = err_set(w->err, EOVERFLOW, "more than %llu objects",
				   (unsigned long long)w->options.objects_max);
	if (depth > TAKER_DEPTH_MAX)
		w->error = err_set(w->err, ELOOP, "directories nested more than %d deep",
				   TAKER_DEPTH_MAX);
	return !w->error;
}

static void take_object(struct taker *w, int dir_fd, uint64_t dir, const char *name, unsigned depth)
{
	struct inode *inode;
	struct statx st;
	uint64_t ino;

	if (!within_limits(w, depth))
		return;
	if (tree_find(w->tree, dir, name, strlen(name))) {
		if (!tree_find(w->tree, dir, name_listed_twice, strlen(name_listed_twice)))
			add_error(w, dir, name_listed_twice, "getdents", EEXIST);
		return;
	}
	if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_BASIC_STATS | STATX_BTIME, &st) < 0) {
		add_error(w, dir, name, "stat", errno);
		return;
	}
	if (S_ISDIR(st.stx_mode)) {
		take_dir(w, dir_fd, dir, name, &st, depth);
		return;
	}
	ino = identity(w, &st);
	if (!tree_inode(w->tree, ino)) {
		inode = inode_add(w->tree, ino, st.stx_mode);
		name_add(w->tree, dir, name, strlen(name), ino);
		take_other(w, dir_fd, name, inode, &st);
	} else if (S_ISDIR(tree_inode(w->tree, ino)->mode)) {
		add_error(w, dir, name, "stat", EUCLEAN); /* the number of a directory */
	} else {
		name_add(w->tree, dir, name, strlen(name), ino);
	}
}

/* The root is not part of what may go wrong: without it there is nothing to tell. */
static int take_root(struct taker *w, int root_fd)
{
	struct inode *root;
	struct statx st;
	int fd = open_object(w, root_fd, ".", O_DIRECTORY), error;

	if (fd < 0)
		return err_sys(w->err, errno, "cannot open the root directory");
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
		error = errno;
	else
		error = read_entries(w, fd);
	if (error) {
		close(fd);
		return err_sys(w->err, error, "cannot read the root directory");
	}
	w->root_dev = makedev(st.stx_dev_major, st.stx_dev_minor);
	w->root_ino = st.stx_ino;
	root = tree_edit(w->tree, TREE_ROOT);
	set_attributes(root, &st);
	take_xattrs(w, fd, -1, NULL, root);
	if (S_ISDIR(root->mode))
		take_entries(w, fd, TREE_ROOT, 0, 1);
	else
		w->error = err_sys(w->err, root->error.code, "%s of the root directory",
				   root->error.call);
	close(fd);
	return w->error;
}

int tree_take(struct taker *w, int root_fd, struct tree *ret, struct err *err)
{
	struct tree tree;
	int r;

	tree_init(&tree, w->options.fields, true, 0, 0, 0);
	/* cppcheck-suppress autoVariables ; only used below */
	w->tree = &tree;
	w->err = err;
	w->error = 0;
	w->objects = 0;
	w->next_fresh = first_fresh_ino;
	w->no_xattrs = w->no_special_xattrs = false;
	buf_clear(&w->dents);
	r = take_root(w, root_fd);
	if (r < 0) {
		tree_free(&tree);
		return r;
	}
	tree_settle(&tree);
	tree.next_ino = w->next_fresh;
	*ret = tree;
	return 0;
}
