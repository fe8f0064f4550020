/* xfs.h -- between the walk of the allocation groups of XFS (xfs.c) and that of its inodes
 * (xfs_fork.c), directories and attributes (xfs_dir.c). */
#ifndef ONDISK_XFS_H
#define ONDISK_XFS_H

#include "ondisk/walk.h"

#define ONDISK_TABLE "ondisk/xfs.def"
#define ONDISK_NAME(tag) xfs_def_##tag
#include "ondisk/structures.h"

enum {
	XFS_INODE_CORE = 176,
	XFS_BTREE_SHORT = 56, /* headers of blocks */
	XFS_BTREE_LONG = 72,
	XFS_LEVELS_MAX = 9,
};

struct xfs_disk {
	struct ondisk_walk walk;
	uint32_t block, sector, inode_size, dir_block; /* bytes */
	uint32_t ag_blocks, ag_count;
	unsigned ag_log, inodes_log; /* bits of a block in a group, of an inode in a block */
	bool has_rmap, has_refcount, has_finobt, has_ftype;
	uint64_t root, log, log_blocks;
	struct walk_set met; /* blocks of the disk */
};

/* An inode whose data or attributes are walked. */
struct xfs_file {
	uint64_t number;
	uint16_t mode;
	bool is_attr; /* the fork of attributes */
	uint64_t at;  /* of the fork */
	uint32_t size;
};

/* Where a block begins that has a number of the whole file system. */
uint64_t xfs_block_at(const struct xfs_disk *x, uint64_t block);
/* The checksum at `crc` of a buffer depends on all of it. */
void xfs_cover(struct xfs_disk *x, uint64_t at, uint32_t len, uint32_t crc);

void xfs_walk_inode(struct xfs_disk *x, uint64_t number, uint64_t at);
/* Data in the inode, of a directory or of attributes. */
void xfs_walk_short_dir(struct xfs_disk *x, const struct xfs_file *f);
void xfs_walk_short_attrs(struct xfs_disk *x, const struct xfs_file *f);
/* Blocks of a directory or of attributes. */
void xfs_walk_dir_block(struct xfs_disk *x, const struct xfs_file *f, uint64_t at);
void xfs_walk_attr_block(struct xfs_disk *x, const struct xfs_file *f, uint64_t at);

#endif
