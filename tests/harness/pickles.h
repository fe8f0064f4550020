/* pickles.h -- a RefFS without its mount, for tests of pickles: bytes in, a state that is used. */
#ifndef TESTS_PICKLES_H
#define TESTS_PICKLES_H

#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/must.h"
#include "reffs/core.h"
#include "reffs/pickle.h"
#include "tree/check.h"

static const uint64_t pickle_key = 7;

static inline void pickle_core_init(struct core *c)
{
	struct core_options options = {
		.bytes_max = (uint64_t)1 << 30,
		.inodes_max = 1 << 20,
		.snapshots_max = 100,
		.memory_max = UINT64_MAX,
	};

	core_init(c, &options, 0, 0);
}

/* Puts the hash behind the bytes that belongs there. */
static inline void pickle_seal(struct buf *bytes)
{
	struct hash hash = hash128(bytes->data, bytes->len, 0);

	buf_add(bytes, &hash, sizeof(hash)); /* lo, hi: as long as the machine is little-endian */
}

/* One call relative to an object; the first argument of these is a descriptor. */
static inline int pickle_call(struct core *c, struct call call, uint64_t ino, int64_t flags)
{
	struct requester root = { 0 };
	struct outcome outcome;
	int error;

	core_enter(c, &root);
	call.arg[0].num = core_open(c, ino, flags);
	error = core_call(c, &call, &outcome);
	core_leave(c);
	return error;
}

static inline struct arg pickle_text(const char *text)
{
	return (struct arg){ .text = text, .len = (uint32_t)strlen(text) };
}

static inline void pickle_make(struct core *c, uint64_t dir, const char *name, uint32_t mode)
{
	struct call call = { .op = OP_mknodat };

	if (S_ISDIR(mode)) {
		call.op = OP_mkdirat;
		call.mkdirat.path = pickle_text(name);
		call.mkdirat.mode.num = mode & 07777;
	} else {
		call.mknodat.path = pickle_text(name);
		call.mknodat.mode.num = mode;
		call.mknodat.dev.num = S_ISCHR(mode) ? 0x103 : 0;
	}
	pickle_call(c, call, dir, O_PATH);
}

static inline void pickle_write(struct core *c, uint64_t ino, int64_t offset, const char *text)
{
	struct call call = { .op = OP_pwrite };

	call.pwrite.data = pickle_text(text);
	call.pwrite.count.num = (int64_t)strlen(text);
	call.pwrite.offset.num = offset;
	pickle_call(c, call, ino, O_WRONLY);
}

static inline void pickle_truncate(struct core *c, uint64_t ino, int64_t length)
{
	struct call call = { .op = OP_ftruncate };

	call.ftruncate.length.num = length;
	pickle_call(c, call, ino, O_RDWR);
}

static inline void pickle_set_flags(struct core *c, uint64_t ino, int64_t flags)
{
	struct call call = { .op = OP_set_inode_flags };

	call.set_inode_flags.flags.num = flags;
	pickle_call(c, call, ino, O_RDONLY);
}

static inline void pickle_set_xattr(struct core *c, uint64_t ino, const char *name)
{
	struct call call = { .op = OP_fsetxattr };

	call.fsetxattr.name = pickle_text(name);
	call.fsetxattr.value = pickle_text("value");
	call.fsetxattr.size.num = 5;
	pickle_call(c, call, ino, O_RDWR);
}

static inline int pickle_remove(struct core *c, uint64_t dir, const char *name, int64_t flags)
{
	struct call call = { .op = OP_unlinkat };

	call.unlinkat.path = pickle_text(name);
	call.unlinkat.flags.num = flags;
	return pickle_call(c, call, dir, O_PATH);
}

/* Changes one object in every way that its type allows. */
static inline void pickle_use(struct core *c, uint64_t ino)
{
	uint32_t mode = core_inode(c, ino)->mode;

	pickle_set_flags(c, ino, 0);
	pickle_set_xattr(c, ino, "user.used");
	if (S_ISREG(mode)) {
		pickle_write(c, ino, 1, "written");
		pickle_write(c, ino, (int64_t)core_inode(c, ino)->size, "behind");
		pickle_truncate(c, ino, 5);
		pickle_truncate(c, ino, 0);
	} else if (S_ISDIR(mode)) {
		pickle_make(c, ino, "made here", S_IFREG | 0600);
	}
}

/* Removes what can be removed of a directory now. */
static inline void pickle_empty(struct core *c, uint64_t dir)
{
	const struct entry *entry;
	uint64_t cookie = 0;
	char name[CHECK_NAME_MAX + 1];

	while ((entry = tree_next_entry(&c->state.tree, dir, &cookie))) {
		bool is_dir = S_ISDIR(core_inode(c, entry->ino)->mode);

		memcpy(name, entry->name, entry->len + 1);
		pickle_remove(c, dir, name, is_dir ? AT_REMOVEDIR : 0);
	}
}

static inline void pickle_each(struct core *c, void (*visit)(struct core *c, uint64_t ino),
			       bool only_dirs)
{
	struct tree now = tree_copy(&c->state.tree);
	uint64_t ino = 0;

	for (bool first = true; pmap_next(&now.inodes, first, &ino); first = false) {
		const struct inode *inode = core_inode(c, ino);

		if (inode && (!only_dirs || S_ISDIR(inode->mode)))
			visit(c, ino);
	}
	tree_free(&now);
}

static inline void pickle_check(const struct core *c)
{
	struct err err = { 0 };

	if (tree_check(&c->state.tree, &err))
		must_note("%s", err.text);
	must(!err.code);
}

/* A state that was accepted can be restored, pickled again to the same tree, changed everywhere and
 * removed down to its root, and holds together throughout. */
static inline void pickle_live(struct core *c)
{
	struct buf again = BUF_INIT;
	struct state before;
	size_t objects;

	must(!core_restore(c, pickle_key, false, &before));
	state_free(&before);
	pickle_check(c);
	must(!pickle_pack(c, &pickle_key, &again, NULL));
	must(!pickle_unpack(c, &pickle_key, &again, NULL));
	must(!tree_diff(&c->state.tree, &core_find(c, pickle_key)->state.tree, 0, NULL));
	buf_free(&again);
	pickle_each(c, pickle_use, false);
	pickle_check(c);
	do {
		objects = c->state.tree.inodes.count;
		pickle_each(c, pickle_empty, true);
	} while (c->state.tree.inodes.count < objects);
	pickle_check(c);
	must(objects == 1 && c->state.tree.blocks == 0);
}

/* Bytes with a good hash: refused with a reason, or a state that lives. Says which. */
static inline bool pickle_try(const struct buf *sealed)
{
	struct err err = { 0 };
	struct core c;
	int r;

	pickle_core_init(&c);
	r = pickle_unpack(&c, &pickle_key, sealed, &err);
	must(r == err.code && !r == !err.text[0]);
	if (!r)
		pickle_live(&c);
	core_free(&c);
	return !r;
}

#endif
