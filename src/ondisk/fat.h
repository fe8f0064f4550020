/* fat.h -- the geometry of FAT12, FAT16 and FAT32, for those who read one. */
#ifndef ONDISK_FAT_H
#define ONDISK_FAT_H

#include "ondisk/ondisk.h"

#define ONDISK_TABLE "ondisk/fat.def"
#define ONDISK_NAME(tag) fat_def_##tag
#include "ondisk/structures.h"

enum {
	FAT_SECTOR = 512,
	FAT_ENTRY = 32, /* of a directory */
	FAT_NAME = 11,
	FAT_ATTR_VOLUME = 0x08,
	FAT_ATTR_DIR = 0x10,
	FAT_ATTR_SLOT = 0x0f,
	FAT_DELETED = 0xe5,
};

struct fat_geometry {
	unsigned bits; /* of an entry of the tables */
	uint32_t sector, cluster;
	uint32_t reserved, fats, fat_sectors, root_entries, clusters;
	uint32_t root_cluster, info, backup; /* FAT32 */
	uint64_t root_at, data_at;
};

/* False: it is no FAT, or its tables and clusters do not fit the disk. */
bool fat_geometry_read(struct fat_geometry *ret, const uint8_t *disk, uint64_t size);
/* Where the entry of a cluster begins, in a table. */
uint64_t fat_entry_at(const struct fat_geometry *g, unsigned table, uint32_t cluster);
/* The entry itself, of a cluster that the table has. */
uint32_t fat_entry(const struct fat_geometry *g, const uint8_t *disk, unsigned table,
		   uint32_t cluster);
/* The least entry that ends a chain. */
uint32_t fat_end_mark(const struct fat_geometry *g);

#endif
