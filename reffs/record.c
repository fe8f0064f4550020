/* record.c -- the calls that a mounted RefFS is asked for, as a script.
 *
 * Requests name objects by number, a script names them by descriptors. The script opens what it
 * needs and keeps it open, so that most calls are one line; it closes what was not used for
 * longest. */
#include "reffs/record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/must.h"
#include "trace/script.h"

enum { SLOTS = 32 };

struct record_slot {
	uint64_t ino; /* 0: the descriptor is free */
	uint64_t used;
	bool named; /* it has, or had, a name */
};

struct call_recorder {
	int fd;
	struct record_slot slots[SLOTS]; /* descriptors STATE_FD_FIRST and on */
	uint64_t calls;
	uint64_t printed; /* the object whose data goes to descriptor 1; 0: none */
	struct buf line;
};

static void record_line(struct call_recorder *r, const struct call *c, int64_t num)
{
	struct outcome o = { .result = op_table[c->op].result, .num = num };
	const char *at;
	size_t len;

	r->calls++;
	buf_clear(&r->line);
	call_print(c, DIALECT_NATIVE, &r->line);
	buf_adds(&r->line, " = ");
	outcome_print(&o, (enum op)c->op, DIALECT_NATIVE, &r->line);
	buf_addch(&r->line, '\n');
	for (at = r->line.data, len = r->line.len; len;) {
		ssize_t n = write(r->fd, at, len);

		if (n <= 0)
			return; /* the reader sees that a line is cut off */
		at += n;
		len -= (size_t)n;
	}
}

struct call_recorder *recorder_new(int fd)
{
	struct call_recorder *r = must_alloc(sizeof(*r));
	struct call umask = { .op = OP_umask, .pid = 1 };

	*r = (struct call_recorder){ .fd = fd };
	umask.umask.mask.num = 0; /* the kernel has applied that of the caller */
	record_line(r, &umask, 022);
	return r;
}

void recorder_free(struct call_recorder *r)
{
	if (!r)
		return;
	buf_free(&r->line);
	free(r);
}

/* ---- paths ---- */

static const struct entry *entry_of(const struct tree *t, uint64_t dir, uint64_t ino,
				    const char *except)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(t, dir, &cookie)))
		if (entry->ino == ino && !(except && !strcmp(entry->name, except)))
			return entry;
	return NULL;
}

static void add_directory_path(const struct tree *t, uint64_t dir, struct buf *out)
{
	const struct inode *inode = tree_inode(t, dir);
	const struct entry *entry;

	if (dir == TREE_ROOT)
		return;
	add_directory_path(t, inode->dir.parent, out);
	entry = entry_of(t, inode->dir.parent, dir, NULL);
	buf_addf(out, "/%s", entry ? entry->name : "?");
}

static void add_name_path(const struct tree *t, uint64_t dir, const char *name, struct buf *out)
{
	add_directory_path(t, dir, out);
	buf_addf(out, "/%s", name);
}

/* A path of the object besides the given one. False: it has none. */
static bool add_object_path(const struct tree *t, uint64_t ino, uint64_t except_dir,
			    const char *except, struct buf *out)
{
	const struct inode *object = tree_inode(t, ino);
	uint64_t dir;

	if (ino == TREE_ROOT) {
		buf_addch(out, '/');
		return true;
	}
	if (S_ISDIR(object->mode)) {
		add_directory_path(t, ino, out);
		return object->nlink > 0;
	}
	for (bool first = true; pmap_next(&t->inodes, first, &dir); first = false) {
		const struct inode *holder = tree_inode(t, dir);
		const struct entry *entry;

		if (!S_ISDIR(holder->mode))
			continue;
		entry = entry_of(t, dir, ino, dir == except_dir ? except : NULL);
		if (!entry)
			continue;
		add_name_path(t, dir, entry->name, out);
		return true;
	}
	return false;
}

static struct arg path_arg(const struct buf *path)
{
	return (struct arg){ .text = buf_str(path), .len = (uint32_t)path->len };
}

/* ---- descriptors of the script ---- */

static void slot_close(struct call_recorder *r, size_t slot)
{
	struct call c = { .op = OP_close, .pid = 1 };

	c.close.fd.num = STATE_FD_FIRST + (int64_t)slot;
	record_line(r, &c, 0);
	r->slots[slot].ino = 0;
}

/* The smallest free one, as open() gives it. */
static size_t slot_new(struct call_recorder *r, const struct tree *t, uint64_t ino)
{
	size_t slot = 0, oldest = SLOTS;

	while (slot < SLOTS && r->slots[slot].ino)
		slot++;
	if (slot == SLOTS) {
		for (size_t i = 0; i < SLOTS; i++) {
			const struct inode *inode = tree_inode(t, r->slots[i].ino);

			/* One without a name could not be opened again. */
			if (inode && !inode->nlink && i < SLOTS - 1)
				continue;
			if (oldest == SLOTS || r->slots[i].used < r->slots[oldest].used)
				oldest = i;
		}
		slot_close(r, oldest);
		slot = oldest;
	}
	r->slots[slot] = (struct record_slot){ ino, r->calls, tree_inode(t, ino)->nlink > 0 };
	return slot;
}

static int64_t slot_find(struct call_recorder *r, uint64_t ino)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (r->slots[i].ino == ino) {
			r->slots[i].used = r->calls;
			return STATE_FD_FIRST + (int64_t)i;
		}
	return -1;
}

/* A descriptor of the object, which the script opens if need be; -1: it has no name. */
static int64_t record_open(struct call_recorder *r, const struct tree *t, uint64_t ino)
{
	bool is_dir = S_ISDIR(tree_inode(t, ino)->mode);
	struct call c = { .op = OP_open, .pid = 1 };
	int64_t fd = slot_find(r, ino);
	struct buf path = BUF_INIT;

	if (fd < 0 && add_object_path(t, ino, 0, NULL, &path)) {
		fd = STATE_FD_FIRST + (int64_t)slot_new(r, t, ino);
		c.open.path = path_arg(&path);
		c.open.flags.num = is_dir ? OPEN_RDONLY | O_DIRECTORY : O_RDWR;
		c.open.mode.num = MODE_ABSENT;
		record_line(r, &c, fd);
	}
	buf_free(&path);
	return fd;
}

/* ---- calls ---- */

struct call_record {
	struct call_recorder *r;
	const struct state *s;
	const struct call *c;
	const struct outcome *o;
};

static uint64_t record_ino(const struct call_record *x, const struct arg *fd)
{
	return state_file(x->s, x->c->pid, fd->num)->ino;
}

/* A call by descriptors: they become the script's. Without them it concerns no name. */
static void record_by_fd(const struct call_record *x, struct call *c, struct arg *fd,
			 struct arg *other)
{
	fd->num = record_open(x->r, &x->s->tree, record_ino(x, fd));
	if (other && fd->num >= 0)
		other->num = record_open(x->r, &x->s->tree, record_ino(x, other));
	c->pid = 1;
	if (fd->num >= 0 && (!other || other->num >= 0))
		record_line(x->r, c, x->o->num);
}

static bool is_printed(const struct call_record *x, const struct arg *dirfd, const char *name)
{
	return record_ino(x, dirfd) == TREE_ROOT && !strcmp(name, RECORD_PRINTED);
}

static void record_openat(const struct call_record *x)
{
	const struct tree *t = &x->s->tree;
	uint64_t ino = state_file(x->s, x->c->pid, x->o->num)->ino;
	bool unnamed = (x->c->openat.flags.num & O_TMPFILE) == O_TMPFILE;
	struct call c = { .op = OP_open, .pid = 1 };
	struct buf path = BUF_INIT;

	if (is_printed(x, &x->c->openat.dirfd, x->c->openat.path.text)) {
		x->r->printed = ino;
		return;
	}
	if (unnamed)
		add_object_path(t, record_ino(x, &x->c->openat.dirfd), 0, NULL, &path);
	else
		add_name_path(t, record_ino(x, &x->c->openat.dirfd), x->c->openat.path.text, &path);
	c.open.path = path_arg(&path);
	c.open.flags.num = O_RDWR | (unnamed ? O_TMPFILE : O_CREAT);
	c.open.mode = x->c->openat.mode;
	record_line(x->r, &c, STATE_FD_FIRST + (int64_t)slot_new(x->r, t, ino));
	buf_free(&path);
}

static void record_write(const struct call_record *x)
{
	struct call c = *x->c;

	c.pwrite.data.len = (uint32_t)x->o->num;
	c.pwrite.count.num = x->o->num;
	if (x->r->printed != record_ino(x, &c.pwrite.fd)) {
		record_by_fd(x, &c, &c.pwrite.fd, NULL);
		return;
	}
	c = (struct call){ .op = OP_write, .pid = 1 };
	c.write.fd.num = STDOUT_FILENO;
	c.write.data = x->c->pwrite.data;
	c.write.data.len = (uint32_t)x->o->num;
	c.write.count.num = x->o->num;
	record_line(x->r, &c, x->o->num);
}

/* A call with one path, whose place in it is given: a name in a directory. */
static void record_by_name(const struct call_record *x, struct call *c, struct arg *path,
			   const struct arg *dirfd, const char *name)
{
	struct buf text = BUF_INIT;

	add_name_path(&x->s->tree, record_ino(x, dirfd), name, &text);
	*path = path_arg(&text);
	c->pid = 1;
	record_line(x->r, c, 0);
	buf_free(&text);
}

static void record_mkdir(const struct call_record *x)
{
	struct call c = { .op = OP_mkdir };

	c.mkdir.mode = x->c->mkdirat.mode;
	record_by_name(x, &c, &c.mkdir.path, &x->c->mkdirat.dirfd, x->c->mkdirat.path.text);
}

static void record_mknod(const struct call_record *x)
{
	struct call c = { .op = OP_mknod };

	c.mknod.mode = x->c->mknodat.mode;
	c.mknod.dev = x->c->mknodat.dev;
	record_by_name(x, &c, &c.mknod.path, &x->c->mknodat.dirfd, x->c->mknodat.path.text);
}

static void record_symlink(const struct call_record *x)
{
	struct call c = { .op = OP_symlink };

	c.symlink.target = x->c->symlinkat.target;
	record_by_name(x, &c, &c.symlink.path, &x->c->symlinkat.dirfd, x->c->symlinkat.path.text);
}

static void record_unlink(const struct call_record *x)
{
	const struct call *asked = x->c;
	struct call c = { .op = OP_unlink };

	if (asked->unlinkat.flags.num & AT_REMOVEDIR)
		c.op = OP_rmdir;
	if (!is_printed(x, &asked->unlinkat.dirfd, asked->unlinkat.path.text))
		record_by_name(x, &c, &c.unlink.path, &asked->unlinkat.dirfd,
			       asked->unlinkat.path.text);
}

static void record_rename(const struct call_record *x)
{
	struct call c = { .op = x->c->renameat2.flags.num ? OP_renameat2 : OP_rename, .pid = 1 };
	struct buf from = BUF_INIT, to = BUF_INIT;

	add_name_path(&x->s->tree, record_ino(x, &x->c->renameat2.fromfd),
		      x->c->renameat2.from.text, &from);
	add_name_path(&x->s->tree, record_ino(x, &x->c->renameat2.tofd), x->c->renameat2.to.text,
		      &to);
	if (c.op == OP_rename) {
		c.rename.from = path_arg(&from);
		c.rename.to = path_arg(&to);
	} else {
		c.renameat2.fromfd.num = c.renameat2.tofd.num = AT_FDCWD;
		c.renameat2.from = path_arg(&from);
		c.renameat2.to = path_arg(&to);
		c.renameat2.flags = x->c->renameat2.flags;
	}
	record_line(x->r, &c, 0);
	buf_free(&from);
	buf_free(&to);
}

/* By another name; a file that had none, by a descriptor. */
static void record_link(const struct call_record *x)
{
	uint64_t ino = record_ino(x, &x->c->linkat.fromfd), dir = record_ino(x, &x->c->linkat.tofd);
	struct call c = { .op = OP_link, .pid = 1 };
	struct buf from = BUF_INIT, to = BUF_INIT;

	add_name_path(&x->s->tree, dir, x->c->linkat.to.text, &to);
	if (add_object_path(&x->s->tree, ino, dir, x->c->linkat.to.text, &from)) {
		c.link.from = path_arg(&from);
		c.link.to = path_arg(&to);
	} else {
		c.op = OP_linkat;
		c.linkat.fromfd.num = slot_find(x->r, ino);
		c.linkat.from = path_arg(&from);
		c.linkat.tofd.num = AT_FDCWD;
		c.linkat.to = path_arg(&to);
		c.linkat.flags.num = AT_EMPTY_PATH;
	}
	record_line(x->r, &c, 0);
	buf_free(&from);
	buf_free(&to);
}

/* An object that opening would change or wait for is named by its path. */
static void record_attribute(const struct call_record *x, enum op by_path)
{
	uint64_t ino = record_ino(x, &x->c->arg[0]);
	uint32_t mode = tree_inode(&x->s->tree, ino)->mode;
	struct call c = *x->c;
	struct buf path = BUF_INIT;

	if (S_ISREG(mode) || S_ISDIR(mode)) {
		record_by_fd(x, &c, &c.arg[0], NULL);
		return;
	}
	if (!add_object_path(&x->s->tree, ino, 0, NULL, &path))
		return;
	c.op = (uint16_t)by_path;
	c.pid = 1;
	c.arg[0] = path_arg(&path);
	record_line(x->r, &c, 0);
	buf_free(&path);
}

static void record_call(const struct call_record *x)
{
	struct call c = *x->c;

	switch (c.op) {
	case OP_openat:
		record_openat(x);
		break;
	case OP_mkdirat:
		record_mkdir(x);
		break;
	case OP_mknodat:
		record_mknod(x);
		break;
	case OP_symlinkat:
		record_symlink(x);
		break;
	case OP_linkat:
		record_link(x);
		break;
	case OP_unlinkat:
		record_unlink(x);
		break;
	case OP_renameat2:
		record_rename(x);
		break;
	case OP_pwrite:
		record_write(x);
		break;
	case OP_ftruncate:
	case OP_fallocate:
		record_by_fd(x, &c, &c.arg[0], NULL);
		break;
	case OP_copy_file_range:
		record_by_fd(x, &c, &c.copy_file_range.fd_in, &c.copy_file_range.fd_out);
		break;
	case OP_fchmod:
		record_attribute(x, OP_chmod);
		break;
	case OP_fchown:
		record_attribute(x, OP_lchown);
		break;
	case OP_fsetxattr:
		record_attribute(x, OP_lsetxattr);
		break;
	case OP_fremovexattr:
		record_attribute(x, OP_lremovexattr);
		break;
	default: /* changes nothing that a crash can lose */
		break;
	}
}

/* Nothing more can be lost of an object that has lost its last name. */
static void record_close_unnamed(struct call_recorder *r, const struct tree *t)
{
	for (size_t i = 0; i < SLOTS; i++) {
		const struct inode *inode = tree_inode(t, r->slots[i].ino);

		if (inode && inode->nlink)
			r->slots[i].named = true;
		else if (r->slots[i].ino && (!inode || r->slots[i].named))
			slot_close(r, i);
	}
}

void recorder_add(struct call_recorder *r, const struct state *s, const struct call *c,
		  const struct outcome *o)
{
	struct call_record x = { r, s, c, o };

	record_call(&x);
	if (c->op == OP_unlinkat || c->op == OP_renameat2)
		record_close_unnamed(r, &s->tree);
}

void recorder_add_sync(struct call_recorder *r, const struct state *s, uint64_t ino, bool data_only)
{
	struct call c = { .op = data_only ? OP_fdatasync : OP_fsync, .pid = 1 };
	uint32_t mode = tree_inode(&s->tree, ino)->mode;

	if (ino == r->printed || !(S_ISREG(mode) || S_ISDIR(mode)))
		return;
	c.fsync.fd.num = record_open(r, &s->tree, ino);
	if (c.fsync.fd.num >= 0)
		record_line(r, &c, 0);
}
