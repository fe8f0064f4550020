/* exfat.c -- where the structures of exFAT lie.
 *
 * Two boot regions of twelve sectors, the allocation table, clusters: bitmap of clusters, table of
 * upper-case characters, directories. Checksums are sums of rotated bytes: of a boot region,
 * without what changes while it is mounted; of the entries of a file, without the checksum; of the
 * table. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/exfat.h"
#include "ondisk/walk.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	EXFAT_BOOT = 512,  /* of the first sector, what has a meaning */
	EXFAT_SUMMED = 11, /* sectors of a region */
};

/* EXFAT_BOOT_SUM: of the region, with the bytes of a sector. EXFAT_TABLE_SUM: of the checksum.
 * EXFAT_SET_SUM: of the first entry, with the one where the set is continued elsewhere; number: how
 * many there are, and how many lie before that. */
enum exfat_checksum { EXFAT_BOOT_SUM = 1, EXFAT_TABLE_SUM, EXFAT_SET_SUM };

struct exfat_disk {
	struct ondisk_walk walk;
	struct exfat_geometry g;
	struct walk_set met; /* clusters */
};

/* A directory that is walked: its clusters come one after another. */
struct exfat_dir {
	const char *path; /* "" is the root */
	unsigned depth;
	bool ended;
	uint64_t set[EXFAT_SET_MAX]; /* entries of a file, as far as they were met */
	unsigned count, wanted;
};

static bool exfat_recognises(const uint8_t *disk, uint64_t size)
{
	return size >= EXFAT_BOOT && memcmp(disk + boot_fs_name_AT, "EXFAT   ", 8) == 0;
}

/* ---- the boot regions ---- */

bool exfat_geometry_read(struct exfat_geometry *ret, const uint8_t *disk, uint64_t size)
{
	unsigned sector_log, cluster_log;

	if (!exfat_recognises(disk, size))
		return false;
	sector_log = ONDISK_LE(disk, boot, sect_size_bits);
	cluster_log = sector_log + (unsigned)ONDISK_LE(disk, boot, sect_per_clus_bits);
	if (sector_log < 9 || sector_log > 12 || cluster_log > 25)
		return false;
	*ret = (struct exfat_geometry){
		.sector = 1U << sector_log,
		.cluster = 1U << cluster_log,
		.clusters = ONDISK_LE(disk, boot, clu_count),
		.root = ONDISK_LE(disk, boot, root_cluster),
		.fat_at = ONDISK_LE(disk, boot, fat_offset) << sector_log,
		.data_at = ONDISK_LE(disk, boot, clu_offset) << sector_log,
	};
	return ret->data_at <= size && ret->clusters <= (size - ret->data_at) / ret->cluster &&
	       ret->fat_at <= size && (ret->clusters + 2ULL) * 4 <= size - ret->fat_at;
}

static void exfat_walk_region(struct exfat_disk *x, uint64_t at, const char *label)
{
	struct ondisk_cover cover = { .at = at,
				      .len = EXFAT_SUMMED * x->g.sector,
				      .kind = EXFAT_BOOT_SUM,
				      .of = at,
				      .with = x->g.sector };

	if (!walk_read(&x->walk, at, (uint64_t)EXFAT_REGION * x->g.sector, "boot region"))
		return;
	walk_add(&x->walk, &exfat_def_boot, at, EXFAT_BOOT, "%s", label);
	for (unsigned i = 1; i <= 8; i++)
		walk_add(&x->walk, &exfat_def_extended_boot, at + (i + 1ULL) * x->g.sector - 4, 4,
			 "%s, sector %u", label, i);
	walk_add(&x->walk, &exfat_def_boot_checksum, at + (uint64_t)EXFAT_SUMMED * x->g.sector, 4,
		 "%s", label);
	ondisk_cover(x->walk.map, cover);
}

/* ---- clusters ---- */

uint64_t exfat_cluster_at(const struct exfat_geometry *g, uint32_t cluster)
{
	return g->data_at + (cluster - (uint64_t)EXFAT_FIRST_CLUSTER) * g->cluster;
}

static void exfat_add_fat(struct exfat_disk *x, uint32_t cluster, const char *path)
{
	walk_add(&x->walk, &exfat_def_fat_entry, x->g.fat_at + cluster * 4ULL, 4, "FAT[%u], %s",
		 cluster, path);
}

/* Whether a cluster is one, and was not met before. */
static bool exfat_take(struct exfat_disk *x, uint32_t cluster, const char *path)
{
	if (cluster < EXFAT_FIRST_CLUSTER)
		walk_fail(&x->walk, "%s has cluster %u", path, cluster);
	return walk_set_add(&x->walk, &x->met, cluster, "cluster");
}

static void exfat_walk_entries(struct exfat_disk *x, struct exfat_dir *dir, uint64_t at);

/* dir: NULL for what is no directory. */
static void exfat_walk_clusters(struct exfat_disk *x, uint32_t first, uint64_t size, bool chain,
				const char *path, struct exfat_dir *dir)
{
	uint64_t left = (size + x->g.cluster - 1) / x->g.cluster;

	for (uint32_t i = first; chain ? i < EXFAT_END : left--;) {
		const uint8_t *p;

		if (!exfat_take(x, i, path))
			return;
		if (chain)
			exfat_add_fat(x, i, path);
		if (dir)
			exfat_walk_entries(x, dir, exfat_cluster_at(&x->g, i));
		p = walk_read(&x->walk, x->g.fat_at + i * 4ULL, 4, "table entry");
		if (!p)
			return;
		i = chain ? (uint32_t)ONDISK_LE(p, fat_entry, entry) : i + 1;
	}
}

/* ---- directories ---- */

static void exfat_walk_bitmap(struct exfat_disk *x, uint64_t at, const uint8_t *p)
{
	uint32_t first = ONDISK_LE(p, bitmap, start_clu);

	walk_add(&x->walk, &exfat_def_bitmap, at, EXFAT_DENTRY, "bitmap");
	if (exfat_take(x, first, "bitmap"))
		walk_add_bitmap(&x->walk, &exfat_def_bits, &exfat_def_bits_edge,
				exfat_cluster_at(&x->g, first), x->g.clusters, "bitmap");
	exfat_add_fat(x, first, "bitmap");
}

/* In clusters that follow each other, as mkfs makes it. */
static void exfat_walk_upcase(struct exfat_disk *x, uint64_t at, const uint8_t *p)
{
	uint32_t first = ONDISK_LE(p, upcase, start_clu);
	uint64_t size = ONDISK_LE(p, upcase, size), table = exfat_cluster_at(&x->g, first);

	walk_add(&x->walk, &exfat_def_upcase, at, EXFAT_DENTRY, "upper-case table");
	if (!exfat_take(x, first, "upper-case table") || !size || size > EXFAT_UPCASE_MAX ||
	    !walk_add(&x->walk, &exfat_def_upcase_table, table, size, "upper-case table"))
		return;
	exfat_add_fat(x, first, "upper-case table");
	ondisk_cover(x->walk.map, (struct ondisk_cover){ .at = table,
							 .len = size,
							 .kind = EXFAT_TABLE_SUM,
							 .of = at + upcase_checksum_AT });
}

static void exfat_set_name(const struct exfat_disk *x, const struct exfat_dir *dir,
			   char ret[WALK_PATH_MAX])
{
	uint8_t name[EXFAT_SET_MAX * EXFAT_NAME_CHARS];
	size_t len = 0;

	for (unsigned i = 2; i < dir->count; i++)
		for (unsigned k = 0; k < EXFAT_NAME_CHARS; k++) {
			uint64_t c = ondisk_le(
				x->walk.disk + dir->set[i] + name_unicode_0_14_AT + k * 2, 2);

			name[len++] = (uint8_t)(c > 126 ? '?' : c);
		}
	walk_path(ret, dir->path, name, len);
}

static void exfat_cover_set(struct exfat_disk *x, const struct exfat_dir *dir)
{
	unsigned before = 1;

	while (before < dir->count && dir->set[before] == dir->set[before - 1] + EXFAT_DENTRY)
		before++;
	for (unsigned i = 0; i < dir->count; i++) {
		struct ondisk_cover cover = { .at = dir->set[i],
					      .len = EXFAT_DENTRY,
					      .kind = EXFAT_SET_SUM,
					      .of = dir->set[0],
					      .number = dir->count | before << 8 };

		if (before < dir->count)
			cover.with = dir->set[before];
		ondisk_cover(x->walk.map, cover);
	}
}

/* All entries of a file are there. */
static void exfat_walk_set(struct exfat_disk *x, struct exfat_dir *dir)
{
	const uint8_t *stream = x->walk.disk + dir->set[1];
	const uint8_t *file = x->walk.disk + dir->set[0];
	struct exfat_dir below = { .depth = dir->depth + 1 };
	char path[WALK_PATH_MAX];

	exfat_set_name(x, dir, path);
	walk_add(&x->walk, &exfat_def_file, dir->set[0], EXFAT_DENTRY, "%s", path);
	walk_add(&x->walk, &exfat_def_stream, dir->set[1], EXFAT_DENTRY, "%s", path);
	for (unsigned i = 2; i < dir->count; i++)
		walk_add(&x->walk, &exfat_def_name, dir->set[i], EXFAT_DENTRY, "%s", path);
	exfat_cover_set(x, dir);
	dir->count = 0;
	below.path = path;
	if (below.depth > WALK_DEPTH_MAX)
		walk_fail(&x->walk, "directories are more than %d deep", WALK_DEPTH_MAX);
	if (!x->walk.status && ONDISK_LE(stream, stream, start_clu))
		exfat_walk_clusters(x, ONDISK_LE(stream, stream, start_clu),
				    ONDISK_LE(stream, stream, size),
				    !(ONDISK_LE(stream, stream, flags) & EXFAT_NO_CHAIN), path,
				    ONDISK_LE(file, file, attr) & EXFAT_ATTR_DIR ? &below : NULL);
}

static void exfat_collect(struct exfat_disk *x, struct exfat_dir *dir, uint64_t at,
			  const uint8_t *p)
{
	if (p[0] == EXFAT_FILE) {
		dir->count = 0;
		dir->wanted = 1 + (unsigned)ONDISK_LE(p, file, num_ext);
	}
	if (p[0] == EXFAT_FILE
		    ? dir->wanted < 3 || dir->wanted > EXFAT_SET_MAX
		    : !dir->count || p[0] != (dir->count == 1 ? EXFAT_STREAM : EXFAT_NAME)) {
		walk_fail(&x->walk, "%s/ has a wrong entry", dir->path);
		return;
	}
	dir->set[dir->count++] = at;
	if (dir->count == dir->wanted)
		exfat_walk_set(x, dir);
}

static void exfat_walk_entry(struct exfat_disk *x, struct exfat_dir *dir, uint64_t at,
			     const uint8_t *p)
{
	switch (p[0]) {
	case EXFAT_BITMAP:
		exfat_walk_bitmap(x, at, p);
		break;
	case EXFAT_UPCASE:
		exfat_walk_upcase(x, at, p);
		break;
	case EXFAT_LABEL:
		walk_add(&x->walk, &exfat_def_label, at, EXFAT_DENTRY, "label");
		break;
	case EXFAT_FILE:
	case EXFAT_STREAM:
	case EXFAT_NAME:
		exfat_collect(x, dir, at, p);
		break;
	default:
		dir->ended = p[0] == EXFAT_LAST;
		walk_add(&x->walk, &exfat_def_other, at, EXFAT_DENTRY, "%s/, %s", dir->path,
			 dir->ended            ? "the end"
			 : p[0] & EXFAT_IN_USE ? "other"
					       : "deleted");
	}
}

static void exfat_walk_entries(struct exfat_disk *x, struct exfat_dir *dir, uint64_t at)
{
	for (uint32_t i = 0; i < x->g.cluster && !dir->ended; i += EXFAT_DENTRY) {
		const uint8_t *p = walk_read(&x->walk, at + i, EXFAT_DENTRY, "directory entry");

		if (!p)
			return;
		exfat_walk_entry(x, dir, at + i, p);
	}
}

/* ---- the format ---- */

static int exfat_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct exfat_disk x = { .walk = { .map = m, .disk = disk, .err = err } };
	struct exfat_dir root = { .path = "" };

	if (!exfat_geometry_read(&x.g, disk, m->disk_size))
		walk_fail(&x.walk, "table and clusters do not fit the disk");
	if (x.walk.status)
		return x.walk.status;
	m->block_size = x.g.cluster;
	walk_set_make(&x.walk, &x.met, x.g.clusters + 2ULL, "clusters");
	exfat_walk_region(&x, 0, "boot region");
	exfat_walk_region(&x, (uint64_t)EXFAT_REGION * x.g.sector, "backup of the boot region");
	exfat_add_fat(&x, 0, "media");
	exfat_add_fat(&x, 1, "reserved");
	exfat_walk_clusters(&x, x.g.root, 0, true, "/", &root);
	walk_set_free(&x.met);
	return x.walk.status;
}

static uint32_t exfat_sum32(uint32_t sum, const uint8_t *p, uint64_t len)
{
	for (uint64_t i = 0; i < len; i++)
		sum = (sum << 31 | sum >> 1) + p[i];
	return sum;
}

/* Every four bytes of the last sector are the sum. */
static void exfat_seal_boot(struct ondisk_sealing *s, uint64_t at, uint32_t sector)
{
	uint64_t len = (uint64_t)EXFAT_SUMMED * sector;
	uint32_t sum = exfat_sum32(0, s->disk + at, boot_vol_flags_AT);

	sum = exfat_sum32(sum, s->disk + at + boot_vol_flags_AT + 2,
			  boot_percent_in_use_AT - boot_vol_flags_AT - 2);
	sum = exfat_sum32(sum, s->disk + at + boot_percent_in_use_AT + 1,
			  len - boot_percent_in_use_AT - 1);
	for (uint32_t i = 0; i < sector; i += 4)
		ondisk_seal_le(s, at + len + i, sum, 4);
}

static void exfat_seal_set(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	unsigned count = c->number & 0xff, before = c->number >> 8 & 0xff;
	uint16_t sum = 0;

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *p = s->disk + (i < before ? c->of + i * EXFAT_DENTRY
							 : c->with + (i - before) * EXFAT_DENTRY);

		for (unsigned k = 0; k < EXFAT_DENTRY; k++)
			if (i || (k != file_checksum_AT && k != file_checksum_AT + 1))
				sum = (uint16_t)((uint16_t)(sum << 15 | sum >> 1) + p[k]);
	}
	ondisk_seal_le(s, c->of + file_checksum_AT, sum, 2);
}

static void exfat_seal(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	if (c->kind == EXFAT_BOOT_SUM)
		exfat_seal_boot(s, c->of, (uint32_t)c->with);
	else if (c->kind == EXFAT_TABLE_SUM)
		ondisk_seal_le(s, c->of, exfat_sum32(0, s->disk + c->at, c->len), 4);
	else
		exfat_seal_set(s, c);
}

const struct ondisk_format ondisk_exfat = {
	.name = "exfat",
	.structures = exfat_def_structures,
	.structure_count = ARRAY_LEN(exfat_def_structures),
	.recognises = exfat_recognises,
	.walk = exfat_walk,
	.seal = exfat_seal,
};
