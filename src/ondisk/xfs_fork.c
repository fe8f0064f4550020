/* xfs_fork.c -- inodes of XFS: the core, and both forks down to the blocks that extents name. */
#include <sys/stat.h>

#include "base/err.h"
#include "ondisk/xfs.h"

enum xfs_fork_format { XFS_DEV, XFS_LOCAL, XFS_EXTENTS, XFS_BTREE };

enum {
	XFS_FLAG2_NREXT64 = 1 << 4,
	XFS_SYMLINK_HEADER = 56,
	XFS_EXTENT = 16,
	XFS_BMDR = 4, /* header of a tree in an inode */
};

/* Behind the header of each remote buffer of a symbolic link, and of an attribute. */
static void xfs_walk_symlink(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
			     uint64_t len)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_dsymlink, at, XFS_SYMLINK_HEADER,
				    "inode %llu, remote symlink", (unsigned long long)f->number);
	uint64_t bytes = p ? ONDISK_BE(p, dsymlink, sl_bytes) : 0;

	if (!p)
		return;
	xfs_cover(x, at, len, dsymlink_sl_crc_AT);
	if (bytes && bytes <= len - XFS_SYMLINK_HEADER)
		walk_add(&x->walk, &xfs_def_symlink, at + XFS_SYMLINK_HEADER, bytes,
			 "inode %llu, target", (unsigned long long)f->number);
}

static void xfs_walk_extent(struct xfs_disk *x, const struct xfs_file *f, const uint8_t *record)
{
	uint64_t l0 = ONDISK_BE(record, bmbt_rec, l0), l1 = ONDISK_BE(record, bmbt_rec, l1);
	uint64_t at = xfs_block_at(x, (l0 & 0x1ff) << 43 | l1 >> 21);
	uint64_t len = (l1 & 0x1fffff) * x->block, unit = f->is_attr ? x->block : x->dir_block;

	if (!f->is_attr && !S_ISDIR(f->mode) && !S_ISLNK(f->mode))
		return;
	if (!walk_read(&x->walk, at, len, "extent"))
		return;
	if (!f->is_attr && S_ISLNK(f->mode)) {
		if (len > XFS_SYMLINK_HEADER && len <= 4 << 10)
			xfs_walk_symlink(x, f, at, len);
		return;
	}
	if (len % unit)
		walk_fail(&x->walk, "a directory block of inode %llu is in pieces",
			  (unsigned long long)f->number);
	for (uint64_t i = 0; i < len && !x->walk.status; i += unit) {
		if (!walk_set_add(&x->walk, &x->met, (at + i) / x->block, "block"))
			return;
		if (f->is_attr)
			xfs_walk_attr_block(x, f, at + i);
		else
			xfs_walk_dir_block(x, f, at + i);
	}
}

static const char *xfs_fork_name(const struct xfs_file *f)
{
	return f->is_attr ? "attribute " : "";
}

static void xfs_walk_extents(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
			     uint64_t count)
{
	for (uint64_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p =
			walk_add(&x->walk, &xfs_def_bmbt_rec, at + i * XFS_EXTENT, XFS_EXTENT,
				 "inode %llu, %sextent %llu", (unsigned long long)f->number,
				 xfs_fork_name(f), (unsigned long long)i);

		if (p)
			xfs_walk_extent(x, f, p);
	}
}

static void xfs_walk_extent_block(struct xfs_disk *x, const struct xfs_file *f, uint64_t block,
				  unsigned level);

/* Keys, behind them pointers: room is the bytes of both. */
static void xfs_walk_extent_node(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
				 uint32_t room, uint32_t count, unsigned level)
{
	uint64_t pointers = at + room / 16 * 8;

	if (count > room / 16)
		walk_fail(&x->walk, "inode %llu has %u pointers in %u bytes",
			  (unsigned long long)f->number, count, room);
	for (uint32_t i = 0; i < count && !x->walk.status; i++)
		walk_add(&x->walk, &xfs_def_bmbt_key, at + i * 8, 8, "inode %llu, %sextent key %u",
			 (unsigned long long)f->number, xfs_fork_name(f), i);
	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p = walk_add(&x->walk, &xfs_def_btree_lptr, pointers + i * 8, 8,
					    "inode %llu, %sextent pointer %u",
					    (unsigned long long)f->number, xfs_fork_name(f), i);

		if (p)
			xfs_walk_extent_block(x, f, ONDISK_BE(p, btree_lptr, ptr), level - 1);
	}
}

static void xfs_walk_extent_block(struct xfs_disk *x, const struct xfs_file *f, uint64_t block,
				  unsigned level)
{
	uint64_t at = xfs_block_at(x, block);
	const uint8_t *p = walk_read(&x->walk, at, x->block, "extent block");
	uint32_t room = x->block - XFS_BTREE_LONG, count;

	if (!p || !walk_set_add(&x->walk, &x->met, at / x->block, "block"))
		return;
	walk_add(&x->walk, &xfs_def_btree_long, at, XFS_BTREE_LONG,
		 "inode %llu, %sextents, level %u", (unsigned long long)f->number, xfs_fork_name(f),
		 level);
	xfs_cover(x, at, x->block, btree_long_bb_crc_AT);
	count = ONDISK_BE(p, btree_long, bb_numrecs);
	if (ONDISK_BE(p, btree_long, bb_level) != level || count > room / XFS_EXTENT)
		walk_fail(&x->walk, "inode %llu has an extent block with %u records",
			  (unsigned long long)f->number, count);
	else if (level)
		xfs_walk_extent_node(x, f, at + XFS_BTREE_LONG, room, count, level);
	else
		xfs_walk_extents(x, f, at + XFS_BTREE_LONG, count);
}

static void xfs_walk_extent_root(struct xfs_disk *x, const struct xfs_file *f)
{
	const uint8_t *p =
		walk_add(&x->walk, &xfs_def_bmdr, f->at, XFS_BMDR, "inode %llu, %sextents",
			 (unsigned long long)f->number, xfs_fork_name(f));
	unsigned level = p ? (unsigned)ONDISK_BE(p, bmdr, bb_level) : 0;

	if (p && (level < 1 || level > XFS_LEVELS_MAX))
		walk_fail(&x->walk, "inode %llu has %u levels of extents",
			  (unsigned long long)f->number, level);
	else if (p)
		xfs_walk_extent_node(x, f, f->at + XFS_BMDR, f->size - XFS_BMDR,
				     ONDISK_BE(p, bmdr, bb_numrecs), level);
}

static void xfs_walk_local(struct xfs_disk *x, const struct xfs_file *f, uint64_t size)
{
	if (f->is_attr)
		xfs_walk_short_attrs(x, f);
	else if (S_ISDIR(f->mode))
		xfs_walk_short_dir(x, f);
	else if (S_ISLNK(f->mode) && size && size <= f->size)
		walk_add(&x->walk, &xfs_def_symlink, f->at, size, "inode %llu, target",
			 (unsigned long long)f->number);
}

static void xfs_walk_fork(struct xfs_disk *x, const struct xfs_file *f, uint64_t format,
			  uint64_t size, uint64_t extents)
{
	switch (format) {
	case XFS_DEV:
		walk_add(&x->walk, &xfs_def_dev, f->at, 4, "inode %llu",
			 (unsigned long long)f->number);
		break;
	case XFS_LOCAL:
		xfs_walk_local(x, f, size);
		break;
	case XFS_EXTENTS:
		if (extents > f->size / XFS_EXTENT)
			walk_fail(&x->walk, "inode %llu has %llu extents",
				  (unsigned long long)f->number, (unsigned long long)extents);
		xfs_walk_extents(x, f, f->at, extents);
		break;
	case XFS_BTREE:
		xfs_walk_extent_root(x, f);
		break;
	default:
		walk_fail(&x->walk, "inode %llu has a fork of format %llu",
			  (unsigned long long)f->number, (unsigned long long)format);
	}
}

void xfs_walk_inode(struct xfs_disk *x, uint64_t number, uint64_t at)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_dinode, at, XFS_INODE_CORE, "inode %llu",
				    (unsigned long long)number);
	uint32_t room = x->inode_size - XFS_INODE_CORE, data;
	struct xfs_file f = { .number = number, .at = at + XFS_INODE_CORE };
	bool many;

	if (!p)
		return;
	many = ONDISK_BE(p, dinode, di_flags2) & XFS_FLAG2_NREXT64;
	data = ONDISK_BE(p, dinode, di_forkoff) * 8;
	if (data >= room) {
		walk_fail(&x->walk, "inode %llu has %u bytes of data", (unsigned long long)number,
			  data);
		return;
	}
	f.mode = ONDISK_BE(p, dinode, di_mode);
	f.size = data ? data : room;
	xfs_walk_fork(x, &f, ONDISK_BE(p, dinode, di_format), ONDISK_BE(p, dinode, di_size),
		      many ? ONDISK_BE(p, dinode, di_big_nextents)
			   : ONDISK_BE(p, dinode, di_nextents));
	if (!data)
		return;
	f.is_attr = true;
	f.at += data;
	f.size = room - data;
	xfs_walk_fork(x, &f, ONDISK_BE(p, dinode, di_aformat), f.size,
		      many ? ONDISK_BE(p, dinode, di_nextents)
			   : ONDISK_BE(p, dinode, di_anextents));
}
