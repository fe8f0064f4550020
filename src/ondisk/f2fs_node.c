/* f2fs_node.c -- nodes of F2FS: inodes, direct and indirect nodes. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/f2fs.h"

enum {
	F2FS_ADDRS = 923, /* in an inode without extra attributes */
	F2FS_ADDRS_NODE = 1018,
	F2FS_FOOTER = 24,
	F2FS_NIDS_AT = 0xfd4, /* in an inode */
	F2FS_NIDS = 5,
	F2FS_XATTR_ADDRS = 50, /* where its size is not written */
	F2FS_EXTRA_MAX = 36,
};

/* i_inline */
enum {
	F2FS_INLINE_XATTR = 1,
	F2FS_INLINE_DATA = 2,
	F2FS_INLINE_DENTRY = 4,
	F2FS_EXTRA_ATTR = 0x20,
};

/* No address of a block: not yet allocated, compressed. */
#define F2FS_ADDR_SPECIAL 0xfffffffeU

struct f2fs_file {
	uint32_t inode;
	uint16_t mode;
	uint64_t size;
};

/* The block of a node, with its footer: UINT64_MAX if there is none. */
static uint64_t f2fs_add_node(struct f2fs_disk *x, uint32_t node, uint32_t inode)
{
	uint64_t at;

	if (node >= x->nodes || !x->node_at[node])
		walk_fail(&x->walk, "inode %u has node %u, which is nowhere", inode, node);
	if (!walk_set_add(&x->walk, &x->met, node, "node"))
		return UINT64_MAX;
	at = (uint64_t)x->node_at[node] * F2FS_BLOCK;
	if (!walk_read(&x->walk, at, F2FS_BLOCK, "node"))
		return UINT64_MAX;
	walk_add(&x->walk, &f2fs_def_footer, at + F2FS_BLOCK - F2FS_FOOTER, F2FS_FOOTER,
		 "inode %u, node %u", inode, node);
	return at;
}

static void f2fs_walk_data(struct f2fs_disk *x, const struct f2fs_file *f, uint32_t block)
{
	uint64_t at = (uint64_t)block * F2FS_BLOCK;

	if (block >= F2FS_ADDR_SPECIAL || (!S_ISDIR(f->mode) && !S_ISLNK(f->mode)))
		return;
	if (S_ISDIR(f->mode))
		f2fs_walk_dentries(x, f->inode, at, F2FS_BLOCK);
	else if (f->size && f->size <= F2FS_BLOCK)
		walk_add(&x->walk, &f2fs_def_symlink, at, f->size, "inode %u", f->inode);
}

/* All that are used, and the next one. */
static void f2fs_walk_addrs(struct f2fs_disk *x, const struct f2fs_file *f, uint64_t at,
			    uint32_t count)
{
	const uint8_t *p = walk_read(&x->walk, at, count * 4ULL, "addresses");
	uint32_t end = 0;

	for (uint32_t i = 0; p && i < count; i++)
		if (ondisk_le(p + i * 4ULL, 4))
			end = i + 1;
	for (uint32_t i = 0; p && i < count && i <= end && !x->walk.status; i++) {
		uint32_t block = ondisk_le(p + i * 4ULL, 4);

		if (!block && i < end)
			continue;
		walk_add(&x->walk, &f2fs_def_addr, at + i * 4ULL, 4, "inode %u, address %u",
			 f->inode, i);
		if (block)
			f2fs_walk_data(x, f, block);
	}
}

/* level 0: a direct node. */
static void f2fs_walk_node(struct f2fs_disk *x, const struct f2fs_file *f, uint32_t node,
			   unsigned level)
{
	uint64_t at = f2fs_add_node(x, node, f->inode);

	if (at == UINT64_MAX)
		return;
	if (!level) {
		f2fs_walk_addrs(x, f, at, F2FS_ADDRS_NODE);
		return;
	}
	for (uint32_t i = 0; i < F2FS_ADDRS_NODE && !x->walk.status; i++) {
		uint32_t below = ondisk_le(x->walk.disk + at + i * 4ULL, 4);

		if (!below)
			continue;
		walk_add(&x->walk, &f2fs_def_nid, at + i * 4ULL, 4, "inode %u, node %u[%u]",
			 f->inode, node, i);
		f2fs_walk_node(x, f, below, level - 1);
	}
}

static void f2fs_walk_nids(struct f2fs_disk *x, const struct f2fs_file *f, uint64_t at)
{
	static const uint8_t levels[F2FS_NIDS] = { 0, 0, 1, 1, 2 };
	const uint8_t *p =
		walk_add(&x->walk, &f2fs_def_inode_nids, at, F2FS_NIDS * 4, "inode %u", f->inode);

	for (unsigned i = 0; p && i < F2FS_NIDS && !x->walk.status; i++) {
		uint32_t node = ondisk_le(p + i * 4, 4);

		if (node)
			f2fs_walk_node(x, f, node, levels[i]);
	}
}

/* Data, directory entries or addresses, and attributes behind them. */
static void f2fs_walk_inode_rest(struct f2fs_disk *x, const struct f2fs_file *f, const uint8_t *p,
				 uint32_t extra, uint32_t xattr)
{
	uint64_t at = (uint64_t)(p - x->walk.disk) + F2FS_INODE_SIZE + extra;
	uint64_t flags = ONDISK_LE(p, inode, i_inline);
	uint32_t addrs = F2FS_ADDRS - extra / 4 - xattr, room = (addrs - 1) * 4;

	/* One address is left out before what is inline. */
	if (flags & F2FS_INLINE_DENTRY)
		f2fs_walk_dentries(x, f->inode, at + 4, room);
	else if (flags & F2FS_INLINE_DATA && f->size && f->size <= room)
		walk_add(&x->walk, S_ISLNK(f->mode) ? &f2fs_def_symlink : &f2fs_def_inline_data,
			 at + 4, f->size, "inode %u", f->inode);
	else if (!(flags & F2FS_INLINE_DATA))
		f2fs_walk_addrs(x, f, at, addrs);
	if (flags & F2FS_INLINE_XATTR && xattr)
		f2fs_walk_xattrs(x, f->inode, at + addrs * 4ULL, xattr * 4);
}

static void f2fs_cover_inode(struct f2fs_disk *x, uint64_t at, uint32_t extra)
{
	if (x->features & F2FS_FEATURE_INODE_CHECKSUM &&
	    F2FS_INODE_SIZE + extra >= inode_extra_i_inode_checksum_AT + 4)
		ondisk_cover(x->walk.map,
			     (struct ondisk_cover){
				     .at = at, .len = F2FS_BLOCK, .kind = F2FS_INODE, .of = at });
}

static void f2fs_walk_inode(struct f2fs_disk *x, uint32_t number)
{
	uint64_t at = f2fs_add_node(x, number, number);
	const uint8_t *p = at == UINT64_MAX ? NULL
					    : walk_add(&x->walk, &f2fs_def_inode, at,
						       F2FS_INODE_SIZE, "inode %u", number);
	uint32_t extra = 0, xattr = 0, xattr_node;
	struct f2fs_file f = { .inode = number };
	uint64_t flags;

	if (!p)
		return;
	f.mode = ONDISK_LE(p, inode, i_mode);
	f.size = ONDISK_LE(p, inode, i_size);
	flags = ONDISK_LE(p, inode, i_inline);
	if (flags & F2FS_EXTRA_ATTR)
		extra = ONDISK_LE(p, inode_extra, i_extra_isize);
	if (x->features & F2FS_FEATURE_FLEXIBLE_XATTR && extra)
		xattr = ONDISK_LE(p, inode_extra, i_inline_xattr_size);
	else if (flags & (F2FS_INLINE_XATTR | F2FS_INLINE_DENTRY))
		xattr = F2FS_XATTR_ADDRS;
	if (extra > F2FS_EXTRA_MAX || extra % 4 || xattr >= F2FS_ADDRS - extra / 4 - 1) {
		walk_fail(&x->walk, "inode %u has %u bytes of extra attributes", number, extra);
		return;
	}
	if (extra)
		walk_add(&x->walk, &f2fs_def_inode_extra, at, F2FS_INODE_SIZE + extra, "inode %u",
			 number);
	f2fs_cover_inode(x, at, extra);
	f2fs_walk_inode_rest(x, &f, p, extra, xattr);
	f2fs_walk_nids(x, &f, at + F2FS_NIDS_AT);
	xattr_node = ONDISK_LE(p, inode, i_xattr_nid);
	if (xattr_node)
		f2fs_add_node(x, xattr_node, number);
}

/* Inodes are the nodes that have their own number as that of their inode. Those that stand
 * for the tables have no block. */
void f2fs_walk_nodes(struct f2fs_disk *x)
{
	walk_set_make(&x->walk, &x->met, x->nodes, "nodes");
	for (uint32_t i = 1; i < x->nodes && !x->walk.status; i++) {
		const uint8_t *p;

		if (x->node_at[i] < x->main || x->node_at[i] >= F2FS_ADDR_SPECIAL)
			continue;
		p = walk_read(&x->walk, (uint64_t)x->node_at[i] * F2FS_BLOCK, F2FS_BLOCK, "node");
		if (p && ONDISK_LE(p + F2FS_BLOCK - F2FS_FOOTER, footer, ino) == i)
			f2fs_walk_inode(x, i);
	}
	walk_set_free(&x->met);
	free(x->node_at);
}
