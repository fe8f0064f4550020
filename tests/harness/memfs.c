/* memfs.c -- a FUSE daemon as somebody writes a first one of his own: a file system in memory, by
 * libfuse's low-level interface: memfs FAULT [OPTION...] MOUNTPOINT.
 *
 * With the fault `none` it does what POSIX says. Each fault (main() lists them) is a mistake that
 * daemons are known for. Only what the fault names is wrong. */
#define FUSE_USE_VERSION 34
#include "memfs_tree.h"

#include <limits.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { VALUE_CUT = 40, TARGET_CUT = 1023, CHUNK = 16384, LISTED_MAX = 1000 };
static const double cached_seconds = 1;

/* An open file. */
struct handle {
	struct node *node;
	off_t end; /* fault append-own */
};

/* ---- replies ---- */

/* What a cache of names answers until it is too old, or the file was changed by the same name. */
static struct stat entry_seen(struct entry *e)
{
	struct timespec t = now();
	double age = (double)(t.tv_sec - e->seen_at.tv_sec) +
		     (double)(t.tv_nsec - e->seen_at.tv_nsec) / 1e9;

	if (!is("name-cache") || age > cached_seconds) {
		e->seen = e->node->st;
		e->seen_at = t;
	}
	e->node->used = e;
	return e->seen;
}

static void forget_seen(struct node *n)
{
	if (n->used)
		n->used->seen_at = (struct timespec){ 0 };
}

static void reply_entry(fuse_req_t req, struct entry *e)
{
	struct fuse_entry_param p = { .ino = e->node->st.st_ino, .attr_timeout = cached_seconds };

	p.entry_timeout = is("name-cache") ? 0 : cached_seconds;
	p.attr = entry_seen(e);
	e->node->lookups++;
	fuse_reply_entry(req, &p);
}

static void reply_attr(fuse_req_t req, const struct node *n)
{
	struct stat st = n->st;

	if (!st.st_nlink && is("orphan-count"))
		st.st_nlink = 1;
	fuse_reply_attr(req, &st, cached_seconds);
}

static void mem_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct entry *e = dir_find(node_of(parent), name);

	if (e)
		reply_entry(req, e);
	else
		fuse_reply_err(req, strlen(name) > NAME_MAX ? ENAMETOOLONG : ENOENT);
}

static void node_forget(struct node *n, uint64_t times)
{
	n->lookups -= times;
	node_release(n);
}

static void mem_forget(fuse_req_t req, fuse_ino_t ino, uint64_t times)
{
	node_forget(node_of(ino), times);
	fuse_reply_none(req);
}

static void mem_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	reply_attr(req, node_of(ino));
}

/* ---- attributes ---- */

static void set_time(struct timespec *time, int to_set, int set, int set_now, struct timespec value)
{
	if (to_set & set_now)
		*time = now();
	else if (to_set & set)
		*time = value;
}

static void mem_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int to_set,
			struct fuse_file_info *fi)
{
	struct node *n = node_of(ino);
	struct timespec before = n->st.st_mtim;
	int error = 0;

	if (to_set & FUSE_SET_ATTR_SIZE && !n->st.st_nlink && is("orphan-truncate"))
		error = ENOENT;
	else if (to_set & FUSE_SET_ATTR_SIZE)
		error = node_resize(n, st->st_size);
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	if (to_set & FUSE_SET_ATTR_SIZE)
		touch(n);
	if (is("truncate-mtime"))
		n->st.st_mtim = before;
	if (to_set & FUSE_SET_ATTR_MODE)
		n->st.st_mode = (n->st.st_mode & S_IFMT) | (st->st_mode & 07777);
	if (to_set & FUSE_SET_ATTR_UID)
		n->st.st_uid = st->st_uid;
	if (to_set & FUSE_SET_ATTR_GID)
		n->st.st_gid = st->st_gid;
	set_time(&n->st.st_atim, to_set, FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, st->st_atim);
	set_time(&n->st.st_mtim, to_set, FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, st->st_mtim);
	n->st.st_ctim = now();
	forget_seen(n);
	reply_attr(req, n);
}

/* ---- names ---- */

static bool refuses_name(fuse_req_t req, const char *name)
{
	if (strlen(name) <= NAME_MAX)
		return false;
	fuse_reply_err(req, ENAMETOOLONG);
	return true;
}

static struct entry *make(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
			  dev_t rdev)
{
	const struct fuse_ctx *caller = fuse_req_ctx(req);
	struct node *dir = node_of(parent), *n;

	n = calloc(1, sizeof(*n));
	node_init(n, mode);
	n->st.st_rdev = rdev;
	n->st.st_uid = caller->uid;
	n->st.st_gid = dir->st.st_mode & S_ISGID ? dir->st.st_gid : caller->gid;
	if (S_ISDIR(mode) && dir->st.st_mode & S_ISGID && !is("setgid-lost"))
		n->st.st_mode |= S_ISGID;
	return dir_add(dir, name, n);
}

static void mem_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t rdev)
{
	if (refuses_name(req, name))
		return;
	reply_entry(req, make(req, parent, name, mode, rdev));
}

static void mem_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	mem_mknod(req, parent, name, S_IFDIR | (mode & 07777), 0);
}

static void mem_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	size_t len = strlen(target);
	struct entry *e;

	if (refuses_name(req, name))
		return;
	if (is("target-cut") && len > TARGET_CUT)
		len = TARGET_CUT;
	e = make(req, parent, name, S_IFLNK | 0777, 0);
	e->node->bytes = strndup(target, len);
	e->node->st.st_size = (off_t)len + is("target-size");
	reply_entry(req, e);
}

static void mem_readlink(fuse_req_t req, fuse_ino_t ino)
{
	fuse_reply_readlink(req, node_of(ino)->bytes);
}

static void mem_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
	struct node *n = node_of(ino);

	if (refuses_name(req, name))
		return;
	n->st.st_nlink++;
	if (!is("link-ctime"))
		n->st.st_ctim = now();
	forget_seen(n);
	reply_entry(req, dir_add(node_of(parent), name, n));
}

static void mem_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct node *dir = node_of(parent);
	struct entry *e = dir_find(dir, name);
	struct node *n = e->node;

	if (is("unlink-keeps") && n->st.st_nlink > 1 && !is_dir(n)) {
		fuse_reply_err(req, 0);
		return;
	}
	dir_remove(dir, e);
	node_lose_name(n);
	fuse_reply_err(req, 0);
}

static void mem_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	if (dir_find(node_of(parent), name)->node->entries && !is("rmdir-full"))
		fuse_reply_err(req, ENOTEMPTY);
	else
		mem_unlink(req, parent, name);
}

static void rename_exchange(struct node *from, struct entry *a, struct node *to, struct entry *b)
{
	struct node *moved = a->node;
	int a_dir = is_dir(a->node), b_dir = is_dir(b->node);

	a->node->used = b->node->used = NULL;
	a->node = b->node;
	b->node = moved;
	if (a_dir)
		b->node->parent = to;
	if (b_dir)
		a->node->parent = from;
	if (!is("exchange-count")) {
		from->st.st_nlink += (nlink_t)(b_dir - a_dir);
		to->st.st_nlink += (nlink_t)(a_dir - b_dir);
	}
	a->node->st.st_ctim = b->node->st.st_ctim = now();
	touch(from);
	touch(to);
}

/* Puts the object that has the one name to the other, which is free. */
static void rename_move(struct node *from, const char *name, struct node *to, const char *new_name)
{
	struct entry *e = dir_find(from, name);
	struct node *moved = e->node;
	nlink_t from_count = from->st.st_nlink, to_count = to->st.st_nlink;

	dir_remove(from, e);
	dir_add(to, new_name, moved);
	moved->st.st_ctim = now();
	if (is("move-count")) {
		from->st.st_nlink = from_count;
		to->st.st_nlink = to_count;
	}
}

/* The kernel does not hold a lock of ours: two directories at once are one too many. */
static void rename_lock(const struct node *from, const struct node *to)
{
	while (is("move-down-hangs") && from != to && to->parent == from)
		pause();
}

static void mem_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent,
		       const char *new_name, unsigned flags)
{
	struct node *from = node_of(parent), *to = node_of(new_parent);
	struct entry *old = dir_find(from, name), *replaced = dir_find(to, new_name);
	struct node *lost = replaced ? replaced->node : NULL;

	if (refuses_name(req, new_name))
		return;
	rename_lock(from, to);
	if (flags & ~(unsigned)(RENAME_EXCHANGE | RENAME_NOREPLACE)) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	if (flags & RENAME_EXCHANGE) {
		rename_exchange(from, old, to, replaced);
		fuse_reply_err(req, 0);
		return;
	}
	if (lost && lost->entries) {
		fuse_reply_err(req, ENOTEMPTY);
		return;
	}
	if (lost) {
		if (lost->opens && !is_dir(lost) && is("replace-frees"))
			node_resize(lost, 0);
		if (is("replace-dies") && is_dir(lost) && lost->lookups > 1)
			abort();
		dir_remove(to, replaced);
		node_lose_name(lost);
	}
	rename_move(from, name, to, new_name);
	fuse_reply_err(req, 0);
}

/* ---- files ---- */

static void mem_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = calloc(1, sizeof(*h));
	struct node *n = node_of(ino);

	/* The kernel leaves it to a daemon of this interface. */
	if (fi->flags & O_TRUNC && !is("open-keeps")) {
		node_resize(n, 0);
		touch(n);
	}
	h->node = n;
	h->end = n->st.st_size;
	n->opens++;
	fi->fh = (uint64_t)h;
	fuse_reply_open(req, fi);
}

static void mem_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = (struct handle *)fi->fh;
	struct node *n = h->node;

	free(h);
	n->opens--;
	fuse_reply_err(req, 0);
	node_release(n);
}

static void mem_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	struct node *n = node_of(ino);
	size_t end = (size_t)n->st.st_size, at = (size_t)offset;

	n->st.st_atim = now();
	if (at >= end)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, n->bytes + at, size < end - at ? size : end - at);
}

static void mem_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t size, off_t offset,
		      struct fuse_file_info *fi)
{
	struct handle *h = (struct handle *)fi->fh;
	struct node *n = node_of(ino);
	off_t end;
	int error = 0;

	if (is("append-own") && fi->flags & O_APPEND) {
		offset = h->end;
		h->end += (off_t)size;
	}
	end = offset + (off_t)size;
	if (end > n->st.st_size)
		error = node_resize(n, end);
	if (error) {
		fuse_reply_err(req, error);
		return;
	}
	/* A write that crosses the border of a chunk begins anew in the second. */
	if (is("chunk-wrong") && offset / CHUNK != end / CHUNK && offset % CHUNK) {
		size_t first = (size_t)(CHUNK - offset % CHUNK);

		memcpy(n->bytes + offset, data, first);
		memcpy(n->bytes + offset + first, data, size - first);
	} else {
		memcpy(n->bytes + offset, data, size);
	}
	touch(n);
	forget_seen(n);
	fuse_reply_write(req, size);
}

static void mem_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0);
}

/* ---- reading directories ---- */

static void mem_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	node_of(ino)->opens++;
	fuse_reply_open(req, fi);
}

static void mem_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node *n = node_of(ino);

	n->opens--;
	fuse_reply_err(req, 0);
	node_release(n);
}

/* Adds an entry; false: there is no room. */
static bool fill(fuse_req_t req, char *to, size_t size, size_t *at, const char *name,
		 const struct node *n, off_t cookie)
{
	size_t len = fuse_add_direntry(req, to + *at, size - *at, name, &n->st, cookie);

	if (*at + len > size)
		return false;
	*at += len;
	return true;
}

/* Cookies 1 and 2 are those of "." and "..". */
static void mem_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
			struct fuse_file_info *fi)
{
	struct node *dir = node_of(ino);
	char *to = malloc(size);
	off_t number = 0;
	size_t at = 0, listed = 0;
	bool room = true;

	if (offset < 1)
		room = fill(req, to, size, &at, ".", dir, 1);
	if (room && offset < 2)
		room = fill(req, to, size, &at, "..", dir->parent ? dir->parent : dir, 2);
	for (const struct entry *e = dir->entries; e && room; e = e->next) {
		if (is("listing-ends") && ++listed > LISTED_MAX)
			break;
		off_t cookie = 2 + (is("readdir-index") ? ++number : e->cookie);

		if (cookie > offset)
			room = fill(req, to, size, &at, e->name, e->node, cookie);
	}
	fuse_reply_buf(req, to, at);
	free(to);
}

/* ---- extended attributes ---- */

/* As the file systems of Linux know names: a name space, and something in it. */
static int value_error(const char *name)
{
	static const char *const spaces[] = { "user.", "trusted.", "security." };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++)
		if (!strncmp(name, spaces[i], strlen(spaces[i])))
			return name[strlen(spaces[i])] ? 0 : EINVAL;
	return EOPNOTSUPP;
}

static bool refuses_value(fuse_req_t req, const char *name)
{
	int error = value_error(name);

	if (error)
		fuse_reply_err(req, error);
	return error;
}

static struct value **value_find(struct node *n, const char *name)
{
	struct value **at = &n->values;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

static void mem_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *bytes,
			 size_t size, int flags)
{
	struct node *n = node_of(ino);
	struct value **at = value_find(n, name);

	if (refuses_value(req, name))
		return;
	if ((*at && flags & XATTR_CREATE) || (!*at && flags & XATTR_REPLACE)) {
		fuse_reply_err(req, *at ? EEXIST : ENODATA);
		return;
	}
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		(*at)->name = strdup(name);
	}
	if (is("value-cut") && size > VALUE_CUT)
		size = VALUE_CUT;
	/* The rest of a longer value stays. */
	if (!is("value-rest") || size > (*at)->size) {
		(*at)->bytes = realloc((*at)->bytes, size + 1);
		(*at)->size = size;
	}
	memcpy((*at)->bytes, bytes, size);
	n->st.st_ctim = now();
	fuse_reply_err(req, 0);
}

static void reply_xattr(fuse_req_t req, const char *bytes, size_t have, size_t size)
{
	if (!size)
		fuse_reply_xattr(req, have);
	else if (size < have)
		fuse_reply_err(req, is("value-range") ? EINVAL : ERANGE);
	else
		fuse_reply_buf(req, bytes, have);
}

static void mem_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct value *v = *value_find(node_of(ino), name);

	if (refuses_value(req, name))
		return;
	if (v)
		reply_xattr(req, v->bytes, v->size, size);
	else
		fuse_reply_err(req, ENODATA);
}

static void mem_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	char *list = NULL;
	size_t have = 0;

	for (struct value *v = node_of(ino)->values; v; v = v->next) {
		size_t len = strlen(v->name) + 1;

		if (!strncmp(v->name, "trusted.", 8) && fuse_req_ctx(req)->uid)
			continue; /* which only root may see */
		list = realloc(list, have + len);
		memcpy(list + have, v->name, len);
		have += len;
	}
	reply_xattr(req, list, have, size);
	free(list);
}

static void mem_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	struct node *n = node_of(ino);
	struct value **at = value_find(n, name), *v = *at;

	if (refuses_value(req, name))
		return;
	if (!v) {
		fuse_reply_err(req, ENODATA);
		return;
	}
	*at = v->next;
	v->next = NULL;
	values_free(v);
	n->st.st_ctim = now();
	fuse_reply_err(req, 0);
}

static void mem_statfs(fuse_req_t req, fuse_ino_t ino)
{
	const struct statvfs st = { .f_bsize = 4096,
				    .f_frsize = 4096,
				    .f_blocks = 1 << 18,
				    .f_bfree = 1 << 18,
				    .f_bavail = 1 << 18,
				    .f_files = 1 << 20,
				    .f_ffree = 1 << 20,
				    .f_namemax = NAME_MAX };

	fuse_reply_statfs(req, &st);
}

static const struct fuse_lowlevel_ops operations = {
	.lookup = mem_lookup,
	.forget = mem_forget,
	.getattr = mem_getattr,
	.setattr = mem_setattr,
	.readlink = mem_readlink,
	.mknod = mem_mknod,
	.mkdir = mem_mkdir,
	.unlink = mem_unlink,
	.rmdir = mem_rmdir,
	.symlink = mem_symlink,
	.rename = mem_rename,
	.link = mem_link,
	.open = mem_open,
	.read = mem_read,
	.write = mem_write,
	.release = mem_release,
	.fsync = mem_fsync,
	.opendir = mem_opendir,
	.readdir = mem_readdir,
	.releasedir = mem_releasedir,
	.fsyncdir = mem_fsync,
	.statfs = mem_statfs,
	.setxattr = mem_setxattr,
	.getxattr = mem_getxattr,
	.listxattr = mem_listxattr,
	.removexattr = mem_removexattr,
};

static const char *const faults[] = {
	"none",
	"append-own",     /* O_APPEND writes at the end that this descriptor knows */
	"chunk-wrong",    /* a write across two chunks repeats its beginning in the second */
	"exchange-count", /* RENAME_EXCHANGE of a directory leaves the link counts of the parents */
	"link-ctime",     /* link does not set the change time */
	"listing-ends",   /* a directory lists 1,000 entries */
	"move-count",     /* a directory that moves leaves the link counts of its parents */
	"move-down-hangs", /* a rename into a subdirectory waits for itself */
	"name-cache",      /* attributes are cached by name, for a second */
	"open-keeps",      /* O_TRUNC is ignored */
	"orphan-count",    /* fstat of a removed file says that it has a name */
	"orphan-truncate", /* ftruncate of a removed file: ENOENT */
	"readdir-index",   /* places in a directory are numbers of entries */
	"replace-dies",    /* a rename onto a directory that is in use */
	"replace-frees",   /* a rename over an open file drops its data */
	"rmdir-full",      /* rmdir removes directories that are not empty */
	"setgid-lost",     /* a directory in a setgid directory has no setgid bit */
	"target-cut",      /* targets of symbolic links are cut */
	"target-size",     /* st_size of a symbolic link has one too many */
	"truncate-mtime",  /* truncate does not set the modification time */
	"truncate-stale",  /* what was cut off is there again when the file grows */
	"unlink-keeps",    /* unlink of one of two names does nothing */
	"value-cut",       /* values of attributes are cut */
	"value-range",     /* too small a buffer for a value: EINVAL, not ERANGE */
	"value-rest",      /* a shorter value keeps the rest of a longer one */
};

static bool choose_fault(const char *name)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		if (!strcmp(name, faults[i]))
			fault = faults[i];
	return fault != NULL;
}

static int usage(void)
{
	fputs("Usage: memfs FAULT [OPTION...] MOUNTPOINT\n", stderr);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		fprintf(stderr, "%s\n", faults[i]);
	return 64;
}

int main(int argc, char **argv)
{
	struct fuse_args args = { 0 };
	struct fuse_session *session;
	int ret = 1;

	if (argc < 3 || !choose_fault(argv[1]))
		return usage();
	fuse_opt_add_arg(&args, argv[0]);
	for (int i = 2; i < argc - 1; i++)
		fuse_opt_add_arg(&args, argv[i]);
	node_init(&root, S_IFDIR | 0755);
	session = fuse_session_new(&args, &operations, sizeof(operations), NULL);
	if (session && !fuse_session_mount(session, argv[argc - 1])) {
		fuse_set_signal_handlers(session);
		ret = fuse_session_loop(session);
		fuse_session_unmount(session);
	}
	return ret != 0;
}
