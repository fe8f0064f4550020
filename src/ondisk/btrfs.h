/* btrfs.h -- between the walk of the trees of btrfs (btrfs.c) and that of items (btrfs_item.c). */
#ifndef ONDISK_BTRFS_H
#define ONDISK_BTRFS_H

#include "ondisk/walk.h"

#define ONDISK_TABLE "ondisk/btrfs.def"
#define ONDISK_NAME(tag) btrfs_def_##tag
#include "ondisk/structures.h"

enum {
	BTRFS_HEADER_SIZE = 101,
	BTRFS_KEY_SIZE = 17,
	BTRFS_ITEM_SIZE = 25,
	BTRFS_CHUNK_SIZE = 48,
	BTRFS_STRIPE_SIZE = 32,
	BTRFS_DEV_SIZE = 98,
	BTRFS_COPIES_MAX = 4,
	BTRFS_MAPPINGS_MAX = 256,
	BTRFS_ROOT_DIR = 256, /* inode of the root of a tree of files */
};

/* Numbers of trees. */
#define BTRFS_ROOT_TREE 1ULL
#define BTRFS_CHUNK_TREE 3ULL
#define BTRFS_FS_TREE 5ULL
#define BTRFS_LOG_TREE (-6ULL)

/* Where a range of logical addresses is on the disk. */
struct btrfs_mapping {
	uint64_t logical, len;
	unsigned copies;
	uint64_t at[BTRFS_COPIES_MAX];
};

struct btrfs_disk {
	struct ondisk_walk walk;
	uint32_t node; /* bytes of a block of a tree */
	struct btrfs_mapping mappings[BTRFS_MAPPINGS_MAX];
	size_t mapping_count;
	struct walk_set met;
};

void btrfs_walk_tree(struct btrfs_disk *x, unsigned long long tree, uint64_t logical,
		     uint64_t level);
/* Item i of the leaf at `at`. */
void btrfs_walk_item(struct btrfs_disk *x, unsigned long long tree, uint64_t at, uint32_t i);
/* A chunk and its stripes, in at most so many bytes; how many they are. */
uint32_t btrfs_walk_chunk(struct btrfs_disk *x, uint64_t at, uint32_t room, const char *label);
void btrfs_map_chunk(struct btrfs_disk *x, uint64_t logical, const uint8_t *chunk, uint32_t len);

#endif
