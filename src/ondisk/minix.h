/* minix.h -- the geometry of a Minix file system, for those who read one. */
#ifndef ONDISK_MINIX_H
#define ONDISK_MINIX_H

#include "ondisk/ondisk.h"

#define ONDISK_TABLE "ondisk/minix.def"
#define ONDISK_NAME(tag) minix_def_##tag
#include "ondisk/structures.h"

enum {
	MINIX_SUPER_AT = 1024,
	MINIX_BLOCK = 1024,
	MINIX_ROOT = 1,
	MINIX_INODE = 32, /* bytes, in V1; later ones have twice as many */
	MINIX_ZONES = 9,  /* in V1; later ones have one more */
	MINIX_DIRECT = 7, /* of them, before those that are indirect */
};

struct minix_geometry {
	bool first, third;            /* V1, V3 */
	uint32_t entry_size, name_at; /* of a directory entry */
	uint32_t block, inodes, zones, first_zone;
	uint32_t imap_blocks, zmap_blocks, log_zone_size;
	uint64_t imap_at, zmap_at, inodes_at;
	uint32_t inode_size, pointer_size, pointers; /* pointers: of an inode */
	uint32_t zones_at;                           /* of the first one, in an inode */
};

/* As the superblock says, whether that can be or not. False: it is no Minix file system. */
bool minix_geometry_read(struct minix_geometry *ret, const uint8_t *disk, uint64_t size);
/* NULL if it can be, or why not. */
const char *minix_geometry_problem(const struct minix_geometry *g);

#endif
