/* f2fs.h -- between the walk of the tables of F2FS (f2fs.c, f2fs_segment.c) and that of its nodes
 * (f2fs_node.c) and directories (f2fs_dir.c). */
#ifndef ONDISK_F2FS_H
#define ONDISK_F2FS_H

#include "ondisk/walk.h"

#define ONDISK_TABLE "ondisk/f2fs.def"
#define ONDISK_NAME(tag) f2fs_def_##tag
#include "ondisk/structures.h"

enum {
	F2FS_BLOCK = 4096,
	F2FS_SEGMENT = 512, /* blocks */
	F2FS_CURRENT = 3,   /* current segments of data, and of nodes */
	F2FS_SUM_SIZE = 7,
	F2FS_SUM_FOOTER = 5,
	F2FS_JOURNAL_AT = 3584, /* in a block of summaries */
	F2FS_JOURNAL_SIZE = 507,
	F2FS_INODE_SIZE = 0x168, /* without extra attributes */
	F2FS_NAT_ENTRY = 9,
	F2FS_SIT_ENTRY = 74,
};

enum { F2FS_CP_UMOUNT = 1, F2FS_CP_ORPHANS = 2, F2FS_CP_COMPACT = 4, F2FS_CP_LARGE_NAT = 0x400 };

enum {
	F2FS_FEATURE_INODE_CHECKSUM = 0x20,
	F2FS_FEATURE_FLEXIBLE_XATTR = 0x40,
	F2FS_FEATURE_SB_CHECKSUM = 0x800,
};

/* Of the format's covers. F2FS_SUPER, F2FS_INODE: of the structure. F2FS_CP: of the checkpoint. */
enum f2fs_checksum { F2FS_SUPER = 1, F2FS_CP, F2FS_INODE };

/* The checkpoint that counts. */
struct f2fs_pack {
	uint32_t block; /* its first */
	uint64_t version;
	uint32_t flags, blocks, start_sum;
	const uint8_t *cp, *nat_bitmap, *sit_bitmap;
	uint32_t nat_bitmap_size, sit_bitmap_size;
};

struct f2fs_disk {
	struct ondisk_walk walk;
	uint32_t features, cp_payload;
	uint32_t cp, sit, nat, ssa, main; /* first blocks */
	uint32_t sit_blocks, nat_blocks, main_segments, root;
	struct f2fs_pack pack;
	uint32_t *node_at; /* blocks of nodes, by number; 0: none */
	uint32_t nodes;
	struct walk_set met; /* nodes */
};

/* A bit, the highest of a byte first. */
bool f2fs_bit(const uint8_t *bitmap, uint32_t size, uint32_t bit);

/* The tables in the pack that counts. f2fs_walk_nat fills in node_at. */
void f2fs_walk_nat(struct f2fs_disk *x);
void f2fs_walk_sit(struct f2fs_disk *x);
/* Inodes, and all that belongs to them. */
void f2fs_walk_nodes(struct f2fs_disk *x);

/* A directory whose entries lie in so many bytes. */
void f2fs_walk_dentries(struct f2fs_disk *x, uint32_t dir, uint64_t at, uint32_t size);
void f2fs_walk_xattrs(struct f2fs_disk *x, uint32_t inode, uint64_t at, uint32_t size);

#endif
