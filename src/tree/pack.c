/* pack.c -- a tree as bytes.
 *
 * The objects come in the order of a walk from the root, each with its attributes and contents;
 * a directory's entries follow it as (number, name). Numbers are little-endian base 128. An
 * object met again (a hard link) is not repeated: its entry names its number. */
#include "tree/pack.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "tree/inode.h"

static void pack_number(struct buf *out, uint64_t value)
{
	while (value >= 0x80) {
		buf_addch(out, (char)(value | 0x80));
		value >>= 7;
	}
	buf_addch(out, (char)value);
}

static void put_bytes(struct buf *out, const void *bytes, size_t len)
{
	pack_number(out, len);
	buf_add(out, bytes, len);
}

static void put_blocks(struct buf *out, const struct inode *inode)
{
	char made[TREE_BLOCK];
	uint64_t key = 0;

	pack_number(out, inode->file.blocks.count);
	for (bool first = true;; first = false) {
		const struct blob *block =
			(const struct blob *)pmap_next(&inode->file.blocks, first, &key);

		if (!block)
			return;
		pack_number(out, key);
		put_bytes(out, blob_read(block, made), block->len);
	}
}

static void put_xattrs(struct buf *out, const struct inode *inode)
{
	uint64_t cookie = 0;
	const struct xattr *x;

	pack_number(out, inode->xattrs.count);
	while ((x = tree_next_xattr(inode, &cookie))) {
		put_bytes(out, x->bytes, x->name_len);
		put_bytes(out, x->bytes + x->name_len + 1, x->value_len);
	}
}

static void put_inode(struct buf *out, const struct inode *inode)
{
	const struct inode_times *times = &inode->times;

	pack_number(out, inode->ino);
	pack_number(out, inode->mode);
	pack_number(out, inode->uid);
	pack_number(out, inode->gid);
	pack_number(out, inode->nlink);
	pack_number(out, inode->flags);
	pack_number(out, inode->rdev);
	pack_number(out, (uint64_t)times->access);
	pack_number(out, (uint64_t)times->modify);
	pack_number(out, (uint64_t)times->change);
	pack_number(out, (uint64_t)times->birth);
	put_xattrs(out, inode);
	switch (inode->mode & S_IFMT) {
	case S_IFREG:
		pack_number(out, inode->size);
		put_blocks(out, inode);
		break;
	case S_IFLNK:
		put_bytes(out, inode->target->bytes, inode->target->len);
		break;
	case 0:
		pack_number(out, inode->size);
		pack_number(out, (uint64_t)inode->error.code);
		put_bytes(out, inode->error.call, strlen(inode->error.call));
		break;
	}
}

/* Where a walk is in a directory. Trees may be too deep for the stack. */
struct pack_level {
	uint64_t dir;
	uint64_t position; /* the cookie of its last entry; unpacking: how many entries are left */
};

static void push_level(struct buf *levels, uint64_t dir, uint64_t position)
{
	buf_add(levels, &(struct pack_level){ dir, position }, sizeof(struct pack_level));
}

static struct pack_level *top_level(const struct buf *levels)
{
	return (struct pack_level *)(void *)(levels->data + levels->len) - 1;
}

static void pop_level(struct buf *levels)
{
	levels->len -= sizeof(struct pack_level);
}

struct packer {
	const struct tree *tree;
	struct buf *out;
	struct hash_map done; /* objects already written */
	struct buf levels;    /* struct pack_level */
};

static void pack_enter_dir(struct packer *p, uint64_t dir)
{
	pack_number(p->out, tree_inode(p->tree, dir)->dir.entries.count);
	push_level(&p->levels, dir, 0);
}

static void put_entry(struct packer *p, const struct entry *e)
{
	const struct inode *inode = tree_inode(p->tree, e->ino);
	bool new;

	put_bytes(p->out, e->name, e->len);
	hash_map_put(&p->done, (struct hash){ e->ino, 0 }, &new);
	if (!new) {
		pack_number(p->out, 0);
		pack_number(p->out, e->ino);
		return;
	}
	put_inode(p->out, inode);
	if (S_ISDIR(inode->mode))
		pack_enter_dir(p, e->ino);
}

void tree_pack(const struct tree *t, struct buf *out)
{
	struct packer p = { t, out, HASH_MAP_INIT, BUF_INIT };

	pack_number(out, t->next_ino);
	put_inode(out, tree_inode(t, TREE_ROOT));
	pack_enter_dir(&p, TREE_ROOT);
	while (p.levels.len) {
		struct pack_level *level = top_level(&p.levels);
		const struct entry *e = tree_next_entry(t, level->dir, &level->position);

		if (e)
			put_entry(&p, e);
		else
			pop_level(&p.levels);
	}
	hash_map_free(&p.done);
	buf_free(&p.levels);
}

struct unpacker {
	struct tree *tree;
	const char *next, *end;
	uint64_t next_ino; /* above every number so far */
	struct buf levels; /* struct pack_level */
	struct err *err;
	int error;
};

/* After the first mistake everything reads as 0 and nothing more is built. */
static void unpack_bad(struct unpacker *u, const char *what)
{
	if (!u->error)
		u->error = err_set(u->err, EINVAL, "not a packed tree: %s", what);
	u->next = u->end;
}

/* The same of an object that has a number. */
static void bad_object(struct unpacker *u, uint64_t ino, const char *what)
{
	if (!u->error)
		u->error = err_set(u->err, EINVAL, "not a packed tree: object %llu %s",
				   (unsigned long long)ino, what);
	u->next = u->end;
}

static uint64_t get_num(struct unpacker *u)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && u->next < u->end; shift += 7) {
		unsigned char byte = (unsigned char)*u->next++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	unpack_bad(u, u->next < u->end ? "a number of more than 64 bits"
				       : "it ends in the middle of a number");
	return 0;
}

static uint32_t get_num32(struct unpacker *u)
{
	uint64_t value = get_num(u);

	if (value > UINT32_MAX)
		unpack_bad(u, "a number of more than 32 bits where there is room for these");
	return (uint32_t)value;
}

static const char *get_bytes(struct unpacker *u, size_t max, size_t *ret_len)
{
	uint64_t len = get_num(u);
	const char *bytes = u->next;

	*ret_len = 0;
	if (len > max || len > (uint64_t)(u->end - u->next)) {
		unpack_bad(u, "a length beyond its bounds");
		return "";
	}
	u->next += len;
	*ret_len = len;
	return bytes;
}

static void get_xattrs(struct unpacker *u, uint64_t ino)
{
	for (uint64_t left = get_num(u); left && !u->error; left--) {
		size_t name_len, value_len;
		const char *bytes = get_bytes(u, 255, &name_len);
		char name[256];
		const char *value = get_bytes(u, UINT32_MAX, &value_len);

		if (!name_len || memchr(bytes, 0, name_len)) {
			bad_object(u, ino, "has an extended attribute without a proper name");
			return;
		}
		memcpy(name, bytes, name_len);
		name[name_len] = 0;
		if (tree_xattr(tree_inode(u->tree, ino), name)) {
			bad_object(u, ino, "has an extended attribute twice");
			return;
		}
		tree_set_xattr(u->tree, ino, name, value, value_len);
	}
}

static void get_block(struct unpacker *u, uint64_t ino, uint64_t size)
{
	uint64_t index = get_num(u), offset = index * TREE_BLOCK;
	size_t len;
	const char *bytes = get_bytes(u, TREE_BLOCK, &len);

	if (index > INT64_MAX / TREE_BLOCK - 1)
		bad_object(u, ino, "has a block beyond any file");
	else if (pmap_get(&tree_inode(u->tree, ino)->file.blocks, index))
		bad_object(u, ino, "has a block twice");
	else if (len && (offset >= size || len > size - offset))
		bad_object(u, ino, "has data beyond its size");
	if (u->error)
		return;
	tree_allocate(u->tree, ino, offset, TREE_BLOCK);
	tree_write(u->tree, ino, offset, bytes, len);
}

static void get_blocks(struct unpacker *u, uint64_t ino)
{
	uint64_t size = get_num(u);

	if (size > INT64_MAX) {
		bad_object(u, ino, "is larger than any file");
		return;
	}
	tree_truncate(u->tree, ino, size);
	for (uint64_t left = get_num(u); left && !u->error; left--)
		get_block(u, ino, size);
}

static void get_attributes(struct unpacker *u, struct inode *inode)
{
	inode->uid = get_num32(u);
	inode->gid = get_num32(u);
	inode->nlink = get_num32(u);
	inode->flags = get_num32(u);
	inode->rdev = get_num32(u);
	inode->times.access = (int64_t)get_num(u);
	inode->times.modify = (int64_t)get_num(u);
	inode->times.change = (int64_t)get_num(u);
	inode->times.birth = (int64_t)get_num(u);
}

static void get_error(struct unpacker *u, struct inode *inode)
{
	size_t len;
	const char *call;

	inode->size = get_num(u);
	inode->error.code = (int)get_num32(u);
	call = get_bytes(u, sizeof(inode->error.call) - 1, &len);
	memset(inode->error.call, 0, sizeof(inode->error.call));
	memcpy(inode->error.call, call, len);
}

/* An object's attributes and contents; its number is read already. It has no name yet. */
static void get_object(struct unpacker *u, uint64_t ino)
{
	uint32_t mode = get_num32(u);
	size_t len;
	const char *target;

	if (ino == TREE_ROOT && S_ISDIR(mode)) {
		tree_edit(u->tree, ino)->mode = mode;
	} else if (ino == UINT64_MAX || tree_inode(u->tree, ino)) {
		bad_object(u, ino, "is there already, or has a number that cannot be");
	} else if (mode & S_IFMT && !inode_has_type(mode)) {
		bad_object(u, ino, "has a type that there is not");
	} else {
		u->tree->next_ino = ino;
		tree_new(u->tree, mode, 0, 0, 0);
		if (u->next_ino <= ino)
			u->next_ino = ino + 1;
	}
	if (u->error)
		return;
	get_attributes(u, tree_edit(u->tree, ino));
	get_xattrs(u, ino);
	switch (mode & S_IFMT) {
	case S_IFREG:
		get_blocks(u, ino);
		break;
	case S_IFLNK:
		target = get_bytes(u, UINT16_MAX, &len);
		tree_set_target(u->tree, ino, target, len);
		break;
	case 0:
		get_error(u, tree_edit(u->tree, ino));
		break;
	}
}

static bool is_packed_name(const char *name, size_t len)
{
	return len && !memchr(name, '/', len) && !memchr(name, 0, len) &&
	       !(name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')));
}

/* The number behind a name: of an object that follows, or of one that came before. */
static uint64_t get_named(struct unpacker *u, bool *ret_again)
{
	uint64_t ino = get_num(u);

	*ret_again = !ino;
	if (*ret_again)
		return get_num(u);
	if (ino == TREE_ROOT)
		unpack_bad(u, "the root below itself");
	else
		get_object(u, ino);
	return ino;
}

/* A remark of the scanner about a directory is an entry of it, like an object that could not be
 * read. Its name, a slash and a word, is one that no object can have. */
static bool is_remark(const char *name, size_t len, const struct inode *inode)
{
	return !(inode->mode & S_IFMT) && len > 1 && name[0] == '/' &&
	       is_packed_name(name + 1, len - 1);
}

static void get_entry(struct unpacker *u, uint64_t dir)
{
	size_t len;
	const char *name = get_bytes(u, 4096, &len);
	bool again;
	uint64_t ino = get_named(u, &again);
	const struct inode *inode = u->error ? NULL : tree_inode(u->tree, ino);

	if (!inode)
		bad_object(u, dir, "has an entry for a missing object");
	else if (again && S_ISDIR(inode->mode))
		bad_object(u, ino, "is a directory with two names");
	else if (!is_packed_name(name, len) && !is_remark(name, len, inode))
		bad_object(u, dir, "has an entry that is no name");
	else if (tree_find(u->tree, dir, name, len))
		bad_object(u, dir, "has a name twice");
	if (u->error)
		return;
	/* Named before what lies below is read, so that its path is known. */
	name_add(u->tree, dir, name, len, ino);
	tree_settle(u->tree);
	if (S_ISDIR(tree_inode(u->tree, ino)->mode))
		push_level(&u->levels, ino, get_num(u));
}

int tree_unpack(struct tree *ret, const char **data, const char *end, unsigned fields, bool hashed,
		struct err *err)
{
	struct tree tree;
	struct unpacker u = { &tree, *data, end, 0, BUF_INIT, err, 0 };

	tree_init(&tree, fields, hashed, 0755, 0, 0);
	u.next_ino = get_num(&u);
	if (get_num(&u) != TREE_ROOT)
		unpack_bad(&u, "it does not begin with a root");
	get_object(&u, TREE_ROOT);
	push_level(&u.levels, TREE_ROOT, get_num(&u));
	while (u.levels.len && !u.error) {
		struct pack_level *level = top_level(&u.levels);

		if (!level->position)
			pop_level(&u.levels);
		else {
			level->position--;
			get_entry(&u, level->dir);
		}
	}
	buf_free(&u.levels);
	tree_settle(&tree);
	if (u.error) {
		tree_free(&tree);
		return u.error;
	}
	tree.next_ino = u.next_ino;
	*data = u.next;
	*ret = tree;
	return 0;
}
