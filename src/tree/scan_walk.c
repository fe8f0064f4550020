/* scan_walk.c -- the walk over directories.
 *
 * Neither the stack nor the descriptors follow the depth: the way down is a list of levels, of
 * which the last ones are open. Coming back to one that was closed, the walk opens ".." of the
 * directory below and looks whether that is where it was.
 *
 * Entries are compared with what they name at no further call: d_ino (XSH readdir: the file serial
 * number) and d_type, which may be DT_UNKNOWN (readdir(3)). "." has the number of the directory and
 * ".." that of the directory above; what is above the root of a scan is not known to it. POSIX
 * allows a directory without these two; no file system of Linux has one, so where numbers are
 * judged, both must be there. At a mount point and where a file system has several devices (btrfs,
 * overlay), numbers are not of the same series and not compared.
 *
 * Every name is looked up, so the attributes of an object that has several are known by each of
 * them: they must be the same (XBD 3.176, hard link: entries that represent the same file). A cache
 * of attributes by name has others. Times are not compared: they may be set meanwhile. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "tree/inode.h"
#include "tree/remark.h"
#include "tree/scanner.h"

static uint64_t statx_device(const struct statx *st)
{
	return makedev(st->stx_dev_major, st->stx_dev_minor);
}

uint64_t statx_identity(const struct scanner *w, const struct statx *st)
{
	uint64_t key[2] = { statx_device(st), st->stx_ino };

	if (key[0] == w->root_dev && key[1] == w->root_ino)
		return TREE_ROOT;
	if (key[0] == w->root_dev && key[1] > TREE_ROOT && key[1] < scan_first_fresh)
		return key[1];
	return hash64(key, sizeof(key), 0) | (uint64_t)1 << 63;
}

static void scan_remark(struct scanner *w, uint64_t dir, enum remark remark, const char *about,
			int code)
{
	w->next_fresh += remark_add(w->tree, dir, w->next_fresh, remark, about, code);
}

/* ---- levels ---- */

static struct scan_level *level_last(const struct scanner *w)
{
	return &w->levels[w->depth - 1];
}

/* Descends into a directory whose entries are those in w->dents from `start` on. */
static void level_push(struct scanner *w, int fd, uint64_t dir, const struct statx *st,
		       size_t start)
{
	struct scan_level *l;

	if (w->depth == w->level_cap) {
		w->level_cap = w->level_cap ? 2 * w->level_cap : SCANNER_OPEN_MAX;
		w->levels = must_realloc(w->levels, w->level_cap * sizeof(*w->levels));
	}
	w->levels[w->depth++] = (struct scan_level){
		.dir = dir,
		.dev = statx_device(st),
		.ino = st->stx_ino,
		.fd = fd,
		.start = start,
		.at = start,
		.end = w->dents.len,
	};
	/* The root stays open. */
	if (w->depth <= SCANNER_OPEN_MAX + 1)
		return;
	l = &w->levels[w->depth - 1 - SCANNER_OPEN_MAX];
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* Opens the directory above the one at fd, which has to be that of the level; 0 or an errno. */
static int level_reopen(struct scanner *w, struct scan_level *l, int fd)
{
	struct statx st;

	if (fd < 0)
		return ESTALE;
	l->fd = open_object(w, fd, "..", O_DIRECTORY);
	if (l->fd < 0)
		return errno;
	if (!statx(l->fd, "", AT_EMPTY_PATH, STATX_INO, &st) && statx_device(&st) == l->dev &&
	    st.stx_ino == l->ino)
		return 0;
	close(l->fd);
	l->fd = -1;
	return ESTALE;
}

/* Goes back up. What cannot be come back to is not looked at any further, and says so. */
static void level_pop(struct scanner *w)
{
	struct scan_level left = *level_last(w), *l;
	int error = 0;

	w->dents.len = left.start;
	if (--w->depth) {
		l = level_last(w);
		if (l->fd < 0)
			error = level_reopen(w, l, left.fd);
		if (error && l->at < l->end) {
			scan_remark(w, l->dir, REMARK_LOST, NULL, error);
			l->at = l->end;
			l->dots = DOT | DOT_DOT;
		}
	}
	if (left.fd >= 0)
		close(left.fd);
}

/* ---- entries ---- */

/* The walk has come to its limits. */
static void scan_cut(struct scanner *w, uint64_t dir, const char *limit, uint64_t max)
{
	if (!w->options.bounded)
		w->error = err_set(w->err, EOVERFLOW, "more than %llu %s", (unsigned long long)max,
				   limit);
	else if (!w->cut)
		scan_remark(w, dir, REMARK_MORE, NULL, EOVERFLOW);
	w->cut = true;
}

static bool scan_is_over(const struct scanner *w)
{
	return w->error || w->cut;
}

ssize_t read_some_entries(struct scanner *w, int fd)
{
	ssize_t n;

	buf_reserve(&w->dents, SCANNER_DENTS);
	n = getdents64(fd, w->dents.data + w->dents.len, SCANNER_DENTS);
	if (n > 0)
		w->dents.len += n;
	return n;
}

/* All entries of an open directory, behind what is in w->dents; returns 0 or an errno. One that
 * has no end is one of too many entries. */
static int read_entries(struct scanner *w, int fd)
{
	size_t start = w->dents.len;
	uint64_t max = w->options.objects_max;
	ssize_t n;

	do {
		n = read_some_entries(w, fd);
		if (max && (w->dents.len - start) / sizeof(struct dirent64) > max)
			return EOVERFLOW;
	} while (n > 0);
	return n < 0 ? errno : 0;
}

unsigned dots_of(const char *name)
{
	if (name[0] != '.' || (name[1] && name[1] != '.'))
		return 0;
	if (!name[1])
		return DOT;
	return name[2] ? 0 : DOT_DOT;
}

bool is_entry_type(unsigned char type, uint32_t mode)
{
	return type == DT_UNKNOWN || type == IFTODT(mode);
}

static void check_type(struct scanner *w, uint64_t dir, const struct dirent64 *entry, uint32_t mode)
{
	if (w->options.fields & TREE_ENTRY_TYPE && !is_entry_type(entry->d_type, mode))
		scan_remark(w, dir, REMARK_TYPE, entry->d_name, EUCLEAN);
}

/* An entry of the innermost directory, and what it names. */
static void check_entry(struct scanner *w, const struct dirent64 *entry, const struct statx *st)
{
	const struct scan_level *l = level_last(w);

	check_type(w, l->dir, entry, st->stx_mode);
	if (w->options.fields & TREE_ENTRY_INO && entry->d_ino != st->stx_ino &&
	    statx_device(st) == l->dev)
		scan_remark(w, l->dir, REMARK_INO, entry->d_name, EUCLEAN);
}

/* "." or ".." of the innermost directory. */
static void check_dots(struct scanner *w, const struct dirent64 *entry, unsigned dots)
{
	struct scan_level *l = level_last(w);
	const struct scan_level *named = dots == DOT ? l : w->depth > 1 ? l - 1 : NULL;

	if (l->dots & dots)
		scan_remark(w, l->dir, REMARK_TWICE, NULL, EEXIST);
	l->dots |= dots;
	check_type(w, l->dir, entry, S_IFDIR);
	if (w->options.fields & TREE_ENTRY_INO && named && entry->d_ino != named->ino &&
	    l->dev == named->dev)
		scan_remark(w, l->dir, REMARK_INO, entry->d_name, EUCLEAN);
}

/* The innermost directory has no further entries. */
static void check_absent(struct scanner *w)
{
	const struct scan_level *l = level_last(w);

	if (!(w->options.fields & TREE_ENTRY_INO))
		return;
	if (!(l->dots & DOT))
		scan_remark(w, l->dir, REMARK_ABSENT, ".", ENOENT);
	if (!(l->dots & DOT_DOT))
		scan_remark(w, l->dir, REMARK_ABSENT, "..", ENOENT);
}

static bool is_lost_found(const struct scanner *w, uint64_t dir, const char *name)
{
	return dir == TREE_ROOT && !w->options.lost_found && strcmp(name, "lost+found") == 0;
}

/* ---- objects ---- */

static void scan_enter_dir(struct scanner *w, int dir_fd, uint64_t dir, const char *name,
			   const struct statx *st)
{
	uint64_t ino = statx_identity(w, st);
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
	/* The name lies among the entries, which may move now. */
	error = read_entries(w, fd);
	if (error)
		object_fail(w, inode, "getdents", error);
	else
		scan_xattrs(w, fd, -1, NULL, inode);
	if (S_ISDIR(inode->mode)) {
		level_push(w, fd, ino, st, start);
		return;
	}
	w->dents.len = start;
	close(fd);
}

/* A further name of an object. */
static void check_name(struct scanner *w, uint64_t dir, const char *name, uint64_t ino,
		       const struct statx *st)
{
	struct inode by_name = { 0 };

	set_attributes(&by_name, st);
	w->next_fresh += remark_add_name(w->tree, dir, name, &by_name, ino, w->next_fresh);
}

static void scan_file_or_link(struct scanner *w, int dir_fd, uint64_t dir, const char *name,
			      const struct statx *st)
{
	uint64_t ino = statx_identity(w, st);
	const struct inode *known = tree_inode(w->tree, ino);
	struct inode *inode;

	if (known && inode_has_type(known->mode) && (known->mode ^ st->stx_mode) & S_IFMT) {
		add_error(w, dir, name, "stat", EUCLEAN); /* the number of something else */
		return;
	}
	inode = known ? NULL : inode_add(w->tree, ino, st->stx_mode);
	name_add(w->tree, dir, name, strlen(name), ino);
	if (inode)
		scan_other(w, dir_fd, name, inode, st);
	else if (w->options.fields & TREE_NAMES)
		check_name(w, dir, name, ino, st);
}

static bool within_limits(struct scanner *w, uint64_t dir)
{
	if (w->options.objects_max && w->objects++ >= w->options.objects_max)
		scan_cut(w, dir, "objects", w->options.objects_max);
	else if (w->depth > SCAN_DEPTH_MAX)
		scan_cut(w, dir, "directories in one another", SCAN_DEPTH_MAX);
	return !scan_is_over(w);
}

static void scan_object(struct scanner *w, int dir_fd, uint64_t dir, const struct dirent64 *entry)
{
	const char *name = entry->d_name;
	struct statx st;

	if (!within_limits(w, dir))
		return;
	if (!*name) {
		scan_remark(w, dir, REMARK_EMPTY, NULL, EUCLEAN);
		return;
	}
	if (tree_find(w->tree, dir, name, strlen(name))) {
		scan_remark(w, dir, REMARK_TWICE, NULL, EEXIST);
		return;
	}
	if (statx(dir_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_WANTED, &st) < 0) {
		add_error(w, dir, name, "stat", errno);
		return;
	}
	if (!inode_has_type(st.stx_mode)) {
		add_error(w, dir, name, "stat", EUCLEAN);
		return;
	}
	check_entry(w, entry, &st);
	if (S_ISDIR(st.stx_mode))
		scan_enter_dir(w, dir_fd, dir, name, &st);
	else
		scan_file_or_link(w, dir_fd, dir, name, &st);
}

/* One more entry of the innermost directory. */
static void scan_entry(struct scanner *w)
{
	struct scan_level *l = level_last(w);
	const struct dirent64 *entry = (const struct dirent64 *)(w->dents.data + l->at);
	unsigned dots = dots_of(entry->d_name);

	l->at += entry->d_reclen;
	if (dots)
		check_dots(w, entry, dots);
	else if (is_lost_found(w, l->dir, entry->d_name))
		tree_edit(w->tree, l->dir)->nlink--;
	else
		scan_object(w, l->fd, l->dir, entry);
}

static void scan_levels(struct scanner *w)
{
	while (w->depth) {
		if (!scan_is_over(w) && level_last(w)->at < level_last(w)->end) {
			scan_entry(w);
			continue;
		}
		if (!scan_is_over(w))
			check_absent(w);
		level_pop(w);
	}
}

/* ---- the root ---- */

static int scan_open_root(struct scanner *w, int root_fd, struct statx *st, int *ret_fd)
{
	int fd = open_object(w, root_fd, ".", O_DIRECTORY), error;

	if (fd < 0)
		return err_sys(w->err, errno, "cannot open the root directory");
	if (statx(fd, "", AT_EMPTY_PATH, STATX_WANTED, st) < 0)
		error = errno;
	else
		error = read_entries(w, fd);
	if (error) {
		close(fd);
		return err_sys(w->err, error, "cannot read the root directory");
	}
	*ret_fd = fd;
	return 0;
}

/* A failure to read the root is our error: there is no tree without it. */
static int scan_root(struct scanner *w, int root_fd)
{
	struct inode *root;
	struct statx st;
	int fd = -1, status = scan_open_root(w, root_fd, &st, &fd);

	if (status < 0)
		return status;
	w->root_dev = statx_device(&st);
	w->root_ino = st.stx_ino;
	root = tree_edit(w->tree, TREE_ROOT);
	set_attributes(root, &st);
	scan_xattrs(w, fd, -1, NULL, root);
	if (!S_ISDIR(root->mode)) {
		close(fd);
		return err_sys(w->err, root->error.code, "%s of the root directory",
			       root->error.call);
	}
	level_push(w, fd, TREE_ROOT, &st, 0);
	scan_levels(w);
	return w->error;
}

int tree_scan_again(struct scanner *w, int root_fd, const struct tree *known, struct tree *ret,
		    struct err *err)
{
	struct tree tree;
	int r;

	tree_init(&tree, w->options.fields, true, 0, 0, 0);
	/* cppcheck-suppress autoVariables ; only used below */
	w->tree = &tree;
	w->known = known;
	w->keeps_contents = false;
	w->err = err;
	w->error = 0;
	w->cut = false;
	w->objects = 0;
	w->depth = 0;
	w->next_fresh = scan_first_fresh;
	w->no_xattrs = w->no_special_xattrs = false;
	buf_clear(&w->dents);
	r = scan_root(w, root_fd);
	if (r < 0) {
		tree_free(&tree);
		return r;
	}
	tree_settle(&tree);
	tree.next_ino = w->next_fresh;
	*ret = tree;
	return 0;
}

int tree_scan(struct scanner *w, int root_fd, struct tree *ret, struct err *err)
{
	return tree_scan_again(w, root_fd, NULL, ret, err);
}
