/* xfs_dir.c -- directories and extended attributes of XFS, in the inode and in blocks of every
 * form. */
#include "base/err.h"
#include "ondisk/xfs.h"

enum {
	XFS_DIR_HEADER = 64, /* of every block of a directory, and of inner nodes */
	XFS_ATTR_HEADER = 80,
	XFS_REMOTE_HEADER = 56,
	XFS_HASH_ENTRY = 8, /* of leaves and nodes, of directories and attributes */
	XFS_FREE_TAG = 0xffff,
	XFS_ATTR_LOCAL = 1,
};

/* The first four bytes, or two at byte 8. */
enum {
	XFS_MAGIC_BLOCK = 0x58444233,  /* XDB3 */
	XFS_MAGIC_DATA = 0x58444433,   /* XDD3 */
	XFS_MAGIC_FREE = 0x58444633,   /* XDF3 */
	XFS_MAGIC_REMOTE = 0x5841524d, /* XARM */
	XFS_MAGIC_LEAF1 = 0x3df1,
	XFS_MAGIC_LEAFN = 0x3dff,
	XFS_MAGIC_NODE = 0x3ebe,
	XFS_MAGIC_ATTR = 0x3bee,
};

/* ---- in the inode ---- */

void xfs_walk_short_dir(struct xfs_disk *x, const struct xfs_file *f)
{
	const uint8_t *p = walk_read(&x->walk, f->at, f->size, "short directory");
	unsigned long long number = f->number;
	unsigned size, count;
	uint32_t at;

	if (!p)
		return;
	size = ONDISK_BE(p, sf_hdr, i8count) ? 8 : 4;
	count = ONDISK_BE(p, sf_hdr, count);
	at = 2 + size;
	walk_add(&x->walk, &xfs_def_sf_hdr, f->at, at, "inode %llu, directory", number);
	for (unsigned i = 0; i < count && !x->walk.status; i++) {
		uint32_t len = at < f->size ? p[at] : 0, rest = at + 3 + len;

		if (rest + 1 + size > f->size) {
			walk_fail(&x->walk, "directory %llu has %u entries", number, count);
			return;
		}
		walk_add(&x->walk, &xfs_def_sf_entry, f->at + at, 3 + len, "inode %llu, entry %.*s",
			 number, (int)len, (const char *)p + at + 3);
		walk_add(&x->walk, &xfs_def_sf_entry_inum, f->at + rest, 1 + size,
			 "inode %llu, entry %.*s", number, (int)len, (const char *)p + at + 3);
		walk_name(&x->walk, ondisk_be(p + rest + 1, size), number, p + at + 3, len);
		at = rest + 1 + size;
	}
}

void xfs_walk_short_attrs(struct xfs_disk *x, const struct xfs_file *f)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_attr_sf_hdr, f->at, 4,
				    "inode %llu, attributes", (unsigned long long)f->number);
	unsigned count = p ? (unsigned)ONDISK_BE(p, attr_sf_hdr, count) : 0;
	uint32_t at = 4;

	for (unsigned i = 0; i < count && !x->walk.status; i++) {
		uint32_t len = at + 3 <= f->size ? 3U + p[at] + p[at + 1] : f->size;

		if (at + len > f->size) {
			walk_fail(&x->walk, "inode %llu has %u attributes",
				  (unsigned long long)f->number, count);
			return;
		}
		walk_add(&x->walk, &xfs_def_attr_sf_entry, f->at + at, len,
			 "inode %llu, attribute %.*s", (unsigned long long)f->number, p[at],
			 (const char *)p + at + 3);
		at += len;
	}
}

/* ---- blocks with entries of a directory ---- */

static uint32_t xfs_walk_data_entry(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
				    uint32_t room)
{
	const uint8_t *p = x->walk.disk + at;
	uint32_t len = room > 9 ? p[data_entry_namelen_AT] : 0, size = (9 + len + 1 + 2 + 7) & ~7U;
	unsigned long long number = f->number;

	if (!len || size > room)
		return 0;
	walk_add(&x->walk, &xfs_def_data_entry, at, 9 + len, "inode %llu, entry %.*s", number,
		 (int)len, (const char *)p + 9);
	walk_add(&x->walk, &xfs_def_data_entry_end, at + 9 + len, 1, "inode %llu, entry %.*s",
		 number, (int)len, (const char *)p + 9);
	walk_add(&x->walk, &xfs_def_data_tag, at + size - 2, 2, "inode %llu, entry %.*s", number,
		 (int)len, (const char *)p + 9);
	walk_name(&x->walk, ONDISK_BE(p, data_entry, inumber), f->number, p + 9, len);
	return size;
}

static uint32_t xfs_walk_unused(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
				uint32_t room)
{
	const uint8_t *p = x->walk.disk + at;
	uint32_t size = ONDISK_BE(p, data_unused, length);

	if (size < 8 || size > room || size % 8)
		return 0;
	walk_add(&x->walk, &xfs_def_data_unused, at, 4, "inode %llu, unused",
		 (unsigned long long)f->number);
	walk_add(&x->walk, &xfs_def_data_tag, at + size - 2, 2, "inode %llu, unused",
		 (unsigned long long)f->number);
	return size;
}

/* Up to `end`, from the beginning of the block. */
static void xfs_walk_data(struct xfs_disk *x, const struct xfs_file *f, uint64_t at, uint32_t end)
{
	for (uint32_t i = XFS_DIR_HEADER; i + 8 <= end && !x->walk.status;) {
		const uint8_t *p = x->walk.disk + at + i;
		uint32_t size = ONDISK_BE(p, data_unused, freetag) == XFS_FREE_TAG
				      ? xfs_walk_unused(x, f, at + i, end - i)
				      : xfs_walk_data_entry(x, f, at + i, end - i);

		if (!size)
			walk_fail(&x->walk, "directory %llu has a wrong entry",
				  (unsigned long long)f->number);
		i += size;
	}
}

/* ---- blocks of hashes ---- */

static void xfs_walk_hashes(struct xfs_disk *x, const struct xfs_file *f,
			    const struct ondisk_structure *s, uint64_t at, uint64_t count,
			    uint64_t room)
{
	if (count > room / XFS_HASH_ENTRY)
		walk_fail(&x->walk, "inode %llu has %llu hashes in a block",
			  (unsigned long long)f->number, (unsigned long long)count);
	for (uint64_t i = 0; i < count && !x->walk.status; i++)
		walk_add(&x->walk, s, at + i * XFS_HASH_ENTRY, XFS_HASH_ENTRY,
			 "inode %llu, hash %llu", (unsigned long long)f->number,
			 (unsigned long long)i);
}

/* A directory in one block: entries, then hashes, then how many. */
static void xfs_walk_single(struct xfs_disk *x, const struct xfs_file *f, uint64_t at)
{
	uint64_t tail = at + x->dir_block - 8;
	const uint8_t *p = walk_add(&x->walk, &xfs_def_block_tail, tail, 8, "inode %llu",
				    (unsigned long long)f->number);
	uint64_t count = p ? ONDISK_BE(p, block_tail, count) : 0;
	uint32_t room = x->dir_block - 8 - XFS_DIR_HEADER;

	if (!p)
		return;
	if (count > room / XFS_HASH_ENTRY) {
		walk_fail(&x->walk, "directory %llu has %llu hashes", (unsigned long long)f->number,
			  (unsigned long long)count);
		return;
	}
	xfs_walk_hashes(x, f, &xfs_def_leaf_entry, tail - count * XFS_HASH_ENTRY, count, room);
	xfs_walk_data(x, f, at, x->dir_block - 8 - (uint32_t)count * XFS_HASH_ENTRY);
}

static void xfs_walk_bests(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
			   uint64_t count, uint64_t room)
{
	if (count > room / 2)
		walk_fail(&x->walk, "directory %llu has %llu blocks in an index",
			  (unsigned long long)f->number, (unsigned long long)count);
	for (uint64_t i = 0; i < count && !x->walk.status; i++)
		walk_add(&x->walk, &xfs_def_best, at + i * 2, 2, "inode %llu, block %llu",
			 (unsigned long long)f->number, (unsigned long long)i);
}

static void xfs_walk_leaf(struct xfs_disk *x, const struct xfs_file *f, uint64_t at, bool only)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_dir3_leaf, at, XFS_DIR_HEADER,
				    "inode %llu, leaf", (unsigned long long)f->number);
	uint64_t tail = at + x->dir_block - 4, bests;

	if (!p)
		return;
	xfs_cover(x, at, x->dir_block, dir3_leaf_crc_AT);
	xfs_walk_hashes(x, f, &xfs_def_leaf_entry, at + XFS_DIR_HEADER,
			ONDISK_BE(p, dir3_leaf, count), x->dir_block - XFS_DIR_HEADER);
	if (!only)
		return;
	p = walk_add(&x->walk, &xfs_def_leaf_tail, tail, 4, "inode %llu, leaf",
		     (unsigned long long)f->number);
	bests = p ? ONDISK_BE(p, leaf_tail, bestcount) : 0;
	xfs_walk_bests(x, f, tail - (bests < x->dir_block / 2 ? bests : 0) * 2, bests,
		       x->dir_block - XFS_DIR_HEADER - 4);
}

static void xfs_walk_da_node(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
			     uint32_t len)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_da3_node, at, XFS_DIR_HEADER,
				    "inode %llu, node", (unsigned long long)f->number);

	if (!p)
		return;
	xfs_cover(x, at, len, da3_node_crc_AT);
	xfs_walk_hashes(x, f, &xfs_def_da_node_entry, at + XFS_DIR_HEADER,
			ONDISK_BE(p, da3_node, count), len - XFS_DIR_HEADER);
}

static void xfs_walk_free_index(struct xfs_disk *x, const struct xfs_file *f, uint64_t at)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_dir3_free, at, XFS_DIR_HEADER,
				    "inode %llu, free index", (unsigned long long)f->number);

	if (!p)
		return;
	xfs_cover(x, at, x->dir_block, dir3_free_crc_AT);
	xfs_walk_bests(x, f, at + XFS_DIR_HEADER, ONDISK_BE(p, dir3_free, nvalid),
		       x->dir_block - XFS_DIR_HEADER);
}

void xfs_walk_dir_block(struct xfs_disk *x, const struct xfs_file *f, uint64_t at)
{
	const uint8_t *p = walk_read(&x->walk, at, x->dir_block, "directory block");
	uint64_t magic = p ? ondisk_be(p, 4) : 0, magic2 = p ? ondisk_be(p + 8, 2) : 0;

	if (magic == XFS_MAGIC_BLOCK || magic == XFS_MAGIC_DATA) {
		walk_add(&x->walk, &xfs_def_dir3_data, at, XFS_DIR_HEADER, "inode %llu, entries",
			 (unsigned long long)f->number);
		xfs_cover(x, at, x->dir_block, dir3_data_crc_AT);
		if (magic == XFS_MAGIC_BLOCK)
			xfs_walk_single(x, f, at);
		else
			xfs_walk_data(x, f, at, x->dir_block);
	} else if (magic == XFS_MAGIC_FREE) {
		xfs_walk_free_index(x, f, at);
	} else if (magic2 == XFS_MAGIC_LEAF1 || magic2 == XFS_MAGIC_LEAFN) {
		xfs_walk_leaf(x, f, at, magic2 == XFS_MAGIC_LEAF1);
	} else if (magic2 == XFS_MAGIC_NODE) {
		xfs_walk_da_node(x, f, at, x->dir_block);
	} else {
		walk_fail(&x->walk, "directory %llu has a block of no known kind",
			  (unsigned long long)f->number);
	}
}

/* ---- blocks of attributes ---- */

static void xfs_walk_attr(struct xfs_disk *x, const struct xfs_file *f, uint64_t at,
			  const uint8_t *entry)
{
	uint32_t offset = ONDISK_BE(entry, attr_leaf_entry, nameidx), room = x->block - offset;
	const uint8_t *p = x->walk.disk + at + offset;
	bool local = ONDISK_BE(entry, attr_leaf_entry, flags) & XFS_ATTR_LOCAL;
	uint32_t head = local ? 3 : 9, len = 0;

	if (offset < XFS_ATTR_HEADER || offset + head > x->block) {
		walk_fail(&x->walk, "inode %llu has an attribute at %u",
			  (unsigned long long)f->number, offset);
		return;
	}
	len = local ? 3 + (uint32_t)ONDISK_BE(p, attr_local, namelen) +
			      (uint32_t)ONDISK_BE(p, attr_local, valuelen)
		    : 9 + (uint32_t)ONDISK_BE(p, attr_remote, namelen);
	if (len > room)
		walk_fail(&x->walk, "inode %llu has an attribute of %u bytes",
			  (unsigned long long)f->number, len);
	walk_add(&x->walk, local ? &xfs_def_attr_local : &xfs_def_attr_remote, at + offset, len,
		 "inode %llu, attribute %.*s", (unsigned long long)f->number, p[head - 1],
		 (const char *)p + head);
}

static void xfs_walk_attr_leaf(struct xfs_disk *x, const struct xfs_file *f, uint64_t at)
{
	const uint8_t *p = walk_add(&x->walk, &xfs_def_attr3_leaf, at, XFS_ATTR_HEADER,
				    "inode %llu, attributes", (unsigned long long)f->number);
	uint64_t count = p ? ONDISK_BE(p, attr3_leaf, count) : 0;

	if (!p)
		return;
	xfs_cover(x, at, x->block, attr3_leaf_crc_AT);
	xfs_walk_hashes(x, f, &xfs_def_attr_leaf_entry, at + XFS_ATTR_HEADER, count,
			x->block - XFS_ATTR_HEADER);
	for (uint64_t i = 0; i < count && !x->walk.status; i++)
		xfs_walk_attr(x, f, at, p + XFS_ATTR_HEADER + i * XFS_HASH_ENTRY);
}

void xfs_walk_attr_block(struct xfs_disk *x, const struct xfs_file *f, uint64_t at)
{
	const uint8_t *p = walk_read(&x->walk, at, x->block, "attribute block");
	uint64_t magic2 = p ? ondisk_be(p + 8, 2) : 0;

	if (p && ondisk_be(p, 4) == XFS_MAGIC_REMOTE) {
		walk_add(&x->walk, &xfs_def_attr3_rmt, at, XFS_REMOTE_HEADER, "inode %llu, value",
			 (unsigned long long)f->number);
		xfs_cover(x, at, x->block, attr3_rmt_rm_crc_AT);
	} else if (magic2 == XFS_MAGIC_ATTR) {
		xfs_walk_attr_leaf(x, f, at);
	} else if (magic2 == XFS_MAGIC_NODE) {
		xfs_walk_da_node(x, f, at, x->block);
	} else if (p) {
		walk_fail(&x->walk, "inode %llu has attributes in a block of no known kind",
			  (unsigned long long)f->number);
	}
}
