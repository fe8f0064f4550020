/* mount.c -- from a disk to a tree.
 *
 * The journal is replayed first. Then the tree is read from its root on, directory by directory. An
 * object whose record is not of the form becomes one that cannot be read (EUCLEAN), as a walk
 * through a damaged file system meets it; what has no name is not read, and its blocks are free. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "journalfs/home.h"
#include "journalfs/recovery.h"
#include "tree/check.h"
#include "tree/inode.h"

struct mounting {
	struct journalfs *fs;
	struct tree tree;
	struct hash_map slots; /* of the map, by number of the inode */
	struct hash_map links; /* that an object should have, by its number */
	struct buf dirs;       /* struct mounting_dir: yet to be read */
	uint64_t next_ino;
	bool damaged; /* there is an object that cannot be read */
};

struct mounting_dir {
	uint64_t ino;
	struct buf bytes; /* its record */
};

static uint64_t *mounting_links(struct mounting *m, uint64_t ino)
{
	return hash_map_put(&m->links, (struct hash){ ino, 0 }, NULL);
}

static void mounting_read_map(struct mounting *m)
{
	const struct ramdisk *disk = &m->fs->journal.disk;
	struct layout_slot slots[LAYOUT_MAP_SLOTS];

	for (uint32_t block = 0; block < LAYOUT_MAP_BLOCKS; block++) {
		memcpy(slots, ramdisk_read(disk, LAYOUT_MAP + block), sizeof(slots));
		for (uint32_t i = 0; i < LAYOUT_MAP_SLOTS; i++) {
			if (!slots[i].ino)
				continue;
			*hash_map_put(&m->slots, (struct hash){ slots[i].ino, 0 }, NULL) =
				block * LAYOUT_MAP_SLOTS + i;
			if (m->next_ino <= slots[i].ino)
				m->next_ino = (uint64_t)slots[i].ino + 1;
		}
	}
}

static struct layout_slot mounting_slot(const struct mounting *m, uint32_t slot)
{
	const char *block =
		ramdisk_read(&m->fs->journal.disk, LAYOUT_MAP + slot / LAYOUT_MAP_SLOTS);
	struct layout_slot ret;

	memcpy(&ret, block + slot % LAYOUT_MAP_SLOTS * sizeof(ret), sizeof(ret));
	return ret;
}

/* The bytes of a record, and which blocks (uint16_t) they are in. A block is part of one chain
 * only, and of that once. */
static bool mounting_read_chain(struct mounting *m, const struct layout_slot *slot,
				struct buf *ret_blocks, struct buf *ret_bytes)
{
	uint16_t block = slot->block;
	struct layout_chain part;

	for (uint32_t index = 0; block || !index; index++) {
		if (!home_claim(m->fs, block))
			return false;
		memcpy(&part, ramdisk_read(&m->fs->journal.disk, block), sizeof(part));
		if (part.magic != LAYOUT_MAGIC_CHAIN || part.ino != slot->ino ||
		    part.index != index || part.length > sizeof(part.bytes))
			return false;
		buf_add(ret_blocks, &block, sizeof(block));
		buf_add(ret_bytes, part.bytes, part.length);
		block = part.next;
	}
	return true;
}

/* ---- objects ---- */

static bool mounting_add_xattrs(struct mounting *m, uint64_t ino, struct journal_record *r)
{
	struct record_xattr x;

	while (record_next_xattr(r, &x)) {
		if (tree_xattr(tree_inode(&m->tree, ino), x.name))
			return false;
		tree_set_xattr(&m->tree, ino, x.name, x.value, x.len);
	}
	return !r->bad;
}

/* What lies behind the end of the file is not part of it. */
static bool mounting_add_block(struct mounting *m, uint64_t ino, const struct record_data *d,
			       struct home *home)
{
	const struct pmap *blocks = &tree_inode(&m->tree, ino)->file.blocks;
	uint64_t offset = d->index * TREE_BLOCK, size = tree_inode(&m->tree, ino)->size;
	struct home_data *data;
	char bytes[TREE_BLOCK];
	uint64_t len = d->len;

	if (pmap_get(blocks, d->index))
		return false;
	for (uint16_t i = 0; i < record_pieces(d->len); i++) {
		if (!home_claim(m->fs, d->blocks[i]))
			return false;
		memcpy(bytes + (size_t)i * LAYOUT_BLOCK,
		       ramdisk_read(&m->fs->journal.disk, d->blocks[i]), LAYOUT_BLOCK);
	}
	if (offset >= size)
		len = 0;
	else if (len > size - offset)
		len = size - offset;
	tree_allocate(&m->tree, ino, offset, TREE_BLOCK);
	if (len)
		tree_write(&m->tree, ino, offset, bytes, len);
	blocks = &tree_inode(&m->tree, ino)->file.blocks;
	data = home_data_new((struct blob *)pmap_get(blocks, d->index), record_pieces(d->len),
			     d->blocks);
	pmap_put(&home->data, &home_data_type, d->index, &data->ref);
	return true;
}

static bool mounting_add_data(struct mounting *m, uint64_t ino, struct journal_record *r,
			      struct home *home)
{
	struct record_data d;

	if (r->inode.size > INT64_MAX)
		return false;
	tree_truncate(&m->tree, ino, r->inode.size);
	while (record_next_data(r, &d))
		if (!mounting_add_block(m, ino, &d, home))
			return false;
	return true;
}

static bool mounting_set_target(struct mounting *m, uint64_t ino, struct journal_record *r)
{
	size_t len;
	const char *target = record_target(r, &len);

	if (!target || !len || len > CHECK_TARGET_MAX || memchr(target, 0, len))
		return false;
	tree_set_target(&m->tree, ino, target, len);
	return true;
}

/* Its names are read later, but known to be of the form. */
static bool mounting_check_names(struct journal_record *r)
{
	const char *name;
	uint64_t ino;
	size_t len;

	while (record_next_name(r, &name, &len, &ino))
		;
	return !r->bad;
}

static bool mounting_add_items(struct mounting *m, uint64_t ino, struct journal_record *r,
			       struct home *home)
{
	record_items(r);
	switch (r->inode.mode & S_IFMT) {
	case S_IFREG:
		return mounting_add_data(m, ino, r, home);
	case S_IFLNK:
		return mounting_set_target(m, ino, r);
	case S_IFDIR:
		return mounting_check_names(r);
	default:
		return !r->left;
	}
}

static void mounting_set_attributes(struct inode *inode, const struct layout_inode *fixed)
{
	inode->mode = fixed->mode;
	inode->nlink = fixed->nlink;
	inode->uid = fixed->uid;
	inode->gid = fixed->gid;
	inode->flags = fixed->flags;
	inode->rdev = fixed->rdev;
	inode->times =
		(struct inode_times){ fixed->access, fixed->modify, fixed->change, fixed->birth };
}

/* A new inode of this number, without a name. */
static void mounting_new(struct mounting *m, uint64_t ino, uint32_t mode)
{
	m->tree.next_ino = ino;
	tree_new(&m->tree, mode, 0, 0, 0);
	if (m->next_ino <= ino)
		m->next_ino = ino + 1;
}

/* The inode that the record says; false, and without it, where that is not of the form. */
static bool mounting_build(struct mounting *m, uint64_t ino, const struct buf *bytes,
			   struct home *home)
{
	struct journal_record r;

	record_open(&r, buf_str(bytes), bytes->len);
	if (r.bad || !inode_has_type(r.inode.mode) || (ino == TREE_ROOT && !S_ISDIR(r.inode.mode)))
		return false;
	if (ino != TREE_ROOT)
		mounting_new(m, ino, r.inode.mode);
	if (!mounting_add_xattrs(m, ino, &r) || !mounting_add_items(m, ino, &r, home) || r.bad ||
	    r.next != r.end) {
		if (ino != TREE_ROOT)
			inode_reap(&m->tree, ino);
		return false;
	}
	mounting_set_attributes(tree_edit(&m->tree, ino), &r.inode);
	home->nlink = r.inode.nlink;
	home->size = tree_inode(&m->tree, ino)->size;
	return true;
}

/* The object of this number and where it lies. */
static bool mounting_read_object(struct mounting *m, uint64_t ino)
{
	const uint64_t *slot = hash_map_get(&m->slots, (struct hash){ ino, 0 });
	struct layout_slot place =
		slot ? mounting_slot(m, (uint32_t)*slot) : (struct layout_slot){ 0 };
	struct buf blocks = BUF_INIT, bytes = BUF_INIT;
	struct home *home = NULL;
	bool good = slot && mounting_read_chain(m, &place, &blocks, &bytes);

	if (good) {
		home = home_new((uint32_t)(blocks.len / sizeof(home->chain[0])));
		home->slot = (uint16_t)*slot;
		memcpy(home->chain, blocks.data, blocks.len);
		good = mounting_build(m, ino, &bytes, home);
	}
	if (good && S_ISDIR(tree_inode(&m->tree, ino)->mode)) {
		*mounting_links(m, ino) = 2;
		buf_add(&m->dirs, &(struct mounting_dir){ ino, bytes },
			sizeof(struct mounting_dir));
		bytes = (struct buf)BUF_INIT;
	}
	if (good) {
		bit_set(m->fs->slots, home->slot, true);
		pmap_put(&m->fs->homes, &home_type, ino, &home->ref);
	} else if (home) {
		home_drop(home);
	}
	buf_free(&blocks);
	buf_free(&bytes);
	return good;
}

static void mounting_add_object(struct mounting *m, uint64_t ino)
{
	struct inode *inode;

	if (mounting_read_object(m, ino))
		return;
	mounting_new(m, ino, 0);
	inode = tree_edit(&m->tree, ino);
	inode->nlink = 1;
	inode->error.code = EUCLEAN;
	strcpy(inode->error.call, "stat");
	m->damaged = true;
}

/* ---- names ---- */

static bool mounting_add_name(struct mounting *m, uint64_t dir, const char *name, size_t len,
			      uint64_t ino)
{
	const struct inode *inode = tree_inode(&m->tree, ino);
	bool is_new = !inode;

	if (tree_find(&m->tree, dir, name, len))
		return false;
	if (is_new)
		mounting_add_object(m, ino);
	inode = tree_inode(&m->tree, ino);
	if (S_ISDIR(inode->mode) && !is_new)
		return false; /* a directory with two names */
	name_add(&m->tree, dir, name, len, ino);
	++*mounting_links(m, S_ISDIR(inode->mode) ? dir : ino);
	return true;
}

static bool mounting_add_names(struct mounting *m, const struct mounting_dir *dir)
{
	struct record_xattr x;
	struct journal_record r;
	const char *name;
	uint64_t ino;
	size_t len;

	record_open(&r, buf_str(&dir->bytes), dir->bytes.len);
	while (record_next_xattr(&r, &x))
		;
	record_items(&r);
	while (record_next_name(&r, &name, &len, &ino))
		if (!mounting_add_name(m, dir->ino, name, len, ino))
			return false;
	return true;
}

/* False where names contradict each other. */
static bool mounting_add_dirs(struct mounting *m)
{
	struct mounting_dir dir;
	bool good = true;

	while (m->dirs.len) {
		m->dirs.len -= sizeof(dir);
		memcpy(&dir, m->dirs.data + m->dirs.len, sizeof(dir));
		good = good && mounting_add_names(m, &dir);
		buf_free(&dir.bytes);
	}
	return good;
}

/* ---- the tree ---- */

static bool mounting_is_damaged(struct mounting *m)
{
	const struct inode *inode;
	uint64_t ino = 0;

	for (bool first = true;
	     (inode = (const struct inode *)pmap_next(&m->tree.inodes, first, &ino)); first = false)
		if (inode->nlink != *mounting_links(m, ino))
			return true;
	return m->damaged;
}

/* What further calls can change. */
static struct tree mounting_repair(struct mounting *m)
{
	struct tree tree = tree_copy(&m->tree), before;
	const struct inode *inode;
	uint64_t ino = 0;

	tree_adopt(&tree);
	before = tree_copy(&tree);
	for (bool first = true;
	     (inode = (const struct inode *)pmap_next(&before.inodes, first, &ino)); first = false)
		if (inode->nlink != *mounting_links(m, ino))
			tree_edit(&tree, ino)->nlink = (uint32_t)*mounting_links(m, ino);
	tree_free(&before);
	tree_settle(&tree);
	return tree;
}

static int mounting_finish(struct mounting *m, struct mounted *ret)
{
	struct err why = { 0 };

	m->tree.next_ino = m->next_ino;
	tree_settle(&m->tree);
	ret->damaged = mounting_is_damaged(m);
	ret->seen = tree_copy(&m->tree);
	ret->tree = ret->damaged ? mounting_repair(m) : tree_copy(&m->tree);
	if (tree_check(&ret->tree, &why)) {
		mounted_free(ret);
		return EUCLEAN;
	}
	m->fs->committed = pmap_share(&m->tree.inodes);
	return 0;
}

void mounted_free(struct mounted *m)
{
	tree_free(&m->seen);
	tree_free(&m->tree);
}

static void mounting_forget(struct journalfs *fs)
{
	pmap_drop(&fs->committed, &inode_type);
	pmap_drop(&fs->homes, &home_type);
	*fs = (struct journalfs){
		.journal = fs->journal,
		.free_blocks = LAYOUT_BLOCKS - LAYOUT_HOME,
	};
}

int journalfs_mount(struct journalfs *fs, unsigned fields, struct mounted *ret)
{
	struct mounting m = { .fs = fs, .next_ino = TREE_ROOT + 1 };
	int error = journal_recover(&fs->journal);
	bool good;

	mounting_forget(fs);
	if (error)
		return error;
	tree_init(&m.tree, fields, true, 0, 0, 0);
	mounting_read_map(&m);
	good = mounting_read_object(&m, TREE_ROOT);
	/* Also where the root is bad: what waits is freed. */
	good = mounting_add_dirs(&m) && good;
	error = good ? mounting_finish(&m, ret) : EUCLEAN;
	tree_free(&m.tree);
	hash_map_free(&m.slots);
	hash_map_free(&m.links);
	buf_free(&m.dirs);
	return error;
}
