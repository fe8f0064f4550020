/* exfat.h -- the geometry of exFAT, for those who read one. */
#ifndef ONDISK_EXFAT_H
#define ONDISK_EXFAT_H

#include "ondisk/ondisk.h"

#define ONDISK_TABLE "ondisk/exfat.def"
#define ONDISK_NAME(tag) exfat_def_##tag
#include "ondisk/structures.h"

enum {
	EXFAT_REGION = 12, /* sectors, of which there is a backup behind them */
	EXFAT_DENTRY = 32,
	EXFAT_SET_MAX = 19, /* entries of a file */
	EXFAT_NAME_CHARS = 15,
	EXFAT_FIRST_CLUSTER = 2,
	EXFAT_NO_CHAIN = 2, /* flag of a stream */
	EXFAT_ATTR_DIR = 0x10,
	EXFAT_UPCASE_MAX = 128 << 10, /* bytes */
};

/* The least entry of the table that leads to no cluster. */
#define EXFAT_END 0xfffffff7U

/* Types of entries. */
enum {
	EXFAT_LAST = 0,
	EXFAT_BITMAP = 0x81,
	EXFAT_UPCASE = 0x82,
	EXFAT_LABEL = 0x83,
	EXFAT_FILE = 0x85,
	EXFAT_STREAM = 0xc0,
	EXFAT_NAME = 0xc1,
	EXFAT_IN_USE = 0x80,
};

struct exfat_geometry {
	uint32_t sector, cluster; /* bytes */
	uint32_t clusters, root;
	uint64_t fat_at, data_at;
};

/* False: it is no exFAT, or its table and clusters do not fit the disk. */
bool exfat_geometry_read(struct exfat_geometry *ret, const uint8_t *disk, uint64_t size);
uint64_t exfat_cluster_at(const struct exfat_geometry *g, uint32_t cluster);

#endif
