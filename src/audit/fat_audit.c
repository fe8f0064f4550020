/* fat_audit.c -- the rules of FAT12, FAT16 and FAT32.
 *
 * They are those of Microsoft's "FAT: General Overview of On-Disk Format" (fatgen103): a chain of
 * clusters for each file, none of them in two; the size that fits it; equal tables; "." and "..".
 * The rest of what a short name may have in it is left to checkers. */
#include "audit/fat_audit.h"

#include <stdlib.h>
#include <string.h>

#include "audit/names.h"
#include "base/must.h"
#include "ondisk/fat.h"

enum {
	FAT_FLAG_ONE_TABLE = 0x80, /* FAT32: only one of the tables is kept up to date */
	FAT_STATE_IN_USE = 0x01,
	FAT_AUDITED_MAX = 1 << 22, /* clusters */
	FAT_DEPTH_MAX = 128,
	FAT_FREE_UNKNOWN = -1,
};

struct fat_audit {
	struct audit *audit;
	const uint8_t *disk;
	uint64_t size;
	struct fat_geometry g;
	uint8_t *used; /* bit for each cluster */
};

/* A directory while it is read. */
struct fat_audit_dir {
	uint32_t first, parent; /* clusters; 0 is a root that is none */
	bool is_root;
	unsigned entries, depth;
	struct audit_names names; /* short ones */
};

static bool fat_audit_is_used(const struct fat_audit *a, uint32_t cluster)
{
	return a->used[cluster / 8] & 1U << cluster % 8;
}

static void fat_audit_entries(struct fat_audit *a, struct fat_audit_dir *d, uint64_t at,
			      uint64_t len);

/* The clusters of a chain are used, and are a directory's entries; is how many there are. */
static uint32_t fat_audit_chain(struct fat_audit *a, uint32_t first, struct fat_audit_dir *dir)
{
	uint32_t end = fat_end_mark(&a->g), count = 0, i = first;

	for (; i < end; count++) {
		if (i < 2 || i >= a->g.clusters + 2) {
			audit_breach(a->audit, "a chain leads to a cluster that there is not",
				     "cluster %u, in the chain from %u", i, first);
			return count;
		}
		if (fat_audit_is_used(a, i)) {
			audit_breach(a->audit, "a cluster is used twice",
				     "cluster %u, in the chain from %u", i, first);
			return count;
		}
		a->used[i / 8] |= 1 << i % 8;
		if (dir)
			fat_audit_entries(a, dir, a->g.data_at + (i - 2ULL) * a->g.cluster,
					  a->g.cluster);
		i = fat_entry(&a->g, a->disk, 0, i);
	}
	return count;
}

/* ---- directories ---- */

static void fat_audit_dir_end(struct fat_audit *a, struct fat_audit_dir *d)
{
	if (audit_names_twice(&d->names))
		audit_breach(a->audit, "a directory has a short name twice",
			     "directory at cluster %u", d->first);
	if (!d->is_root && d->entries < 2)
		audit_breach(a->audit, "a directory does not begin with \".\" and \"..\"",
			     "directory at cluster %u", d->first);
	audit_names_free(&d->names);
}

static void fat_audit_subdir(struct fat_audit *a, const struct fat_audit_dir *d, uint32_t first)
{
	struct fat_audit_dir below = { .first = first,
				       .parent = d->is_root ? 0 : d->first,
				       .depth = d->depth + 1 };

	if (!first) {
		audit_breach(a->audit, "a directory has no cluster",
			     "in the directory at cluster %u", d->first);
		return;
	}
	if (below.depth > FAT_DEPTH_MAX)
		return;
	fat_audit_chain(a, first, &below);
	fat_audit_dir_end(a, &below);
}

static void fat_audit_file(struct fat_audit *a, uint32_t first, uint32_t size)
{
	uint32_t count = first ? fat_audit_chain(a, first, NULL) : 0;
	uint64_t expected = ((uint64_t)size + a->g.cluster - 1) / a->g.cluster;

	if (count != expected)
		audit_breach(a->audit, "the size of a file does not fit its clusters",
			     "%u bytes, %u clusters from cluster %u", size, count, first);
}

/* Whether it is "." or "..", which begin a directory and are nowhere else. */
static bool fat_audit_dots(struct fat_audit *a, struct fat_audit_dir *d, const uint8_t *e,
			   uint32_t first, unsigned place)
{
	static const char names[2][FAT_NAME + 1] = { ".          ", "..         " };
	bool is_dot = !memcmp(e, names[0], FAT_NAME) || !memcmp(e, names[1], FAT_NAME);
	bool expected = !d->is_root && place < 2;

	if (is_dot != expected || (expected && (memcmp(e, names[place], FAT_NAME) != 0 ||
						first != (place ? d->parent : d->first) ||
						!(ONDISK_LE(e, dir_entry, attr) & FAT_ATTR_DIR))))
		audit_breach(a->audit, "a directory does not begin with \".\" and \"..\"",
			     "directory at cluster %u", d->first);
	return is_dot;
}

static void fat_audit_entry(struct fat_audit *a, struct fat_audit_dir *d, const uint8_t *e)
{
	uint64_t attr = ONDISK_LE(e, dir_entry, attr);
	uint32_t first = (uint32_t)ONDISK_LE(e, dir_entry, start);
	uint32_t size = (uint32_t)ONDISK_LE(e, dir_entry, size);
	unsigned place = d->entries++;

	if (a->g.bits == 32)
		first |= (uint32_t)ONDISK_LE(e, dir_entry, starthi) << 16;
	if (attr & FAT_ATTR_VOLUME || fat_audit_dots(a, d, e, first, place))
		return;
	audit_names_add(&d->names, e, FAT_NAME);
	/* DIR_FileSize of a directory is always 0 (Microsoft's FAT specification). */
	if (attr & FAT_ATTR_DIR && size)
		audit_breach(a->audit, "a directory has a size", "%u bytes, cluster %u", size,
			     first);
	if (attr & FAT_ATTR_DIR)
		fat_audit_subdir(a, d, first);
	else
		fat_audit_file(a, first, size);
}

/* An entry that begins with zero is free, and does not end the directory: Linux reads on. */
static void fat_audit_entries(struct fat_audit *a, struct fat_audit_dir *d, uint64_t at,
			      uint64_t len)
{
	for (uint64_t i = 0; i + FAT_ENTRY <= len; i += FAT_ENTRY) {
		const uint8_t *e = a->disk + at + i;

		if (e[0] && e[0] != FAT_DELETED && ONDISK_LE(e, dir_entry, attr) != FAT_ATTR_SLOT)
			fat_audit_entry(a, d, e);
	}
}

/* ---- boot sector and tables ---- */

/* Linux and Windows set the flag while the disk is mounted. */
static void fat_audit_state(struct fat_audit *a)
{
	uint64_t state = a->g.bits == 32 ? ONDISK_LE(a->disk, boot_sector32, state)
					 : ONDISK_LE(a->disk, boot_sector16, state);

	if (state & FAT_STATE_IN_USE)
		audit_breach(a->audit, "the disk is marked as in use", "state 0x%x",
			     (unsigned)state);
}

static void fat_audit_tables(struct fat_audit *a)
{
	bool one = a->g.bits == 32 && ONDISK_LE(a->disk, boot_sector32, flags) & FAT_FLAG_ONE_TABLE;

	for (unsigned t = 1; t < a->g.fats && !one; t++)
		for (uint32_t i = 0; i < a->g.clusters + 2; i++)
			if (fat_entry(&a->g, a->disk, t, i) != fat_entry(&a->g, a->disk, 0, i)) {
				audit_breach(a->audit, "the allocation tables differ",
					     "cluster %u, table %u", i, t + 1);
				return;
			}
}

/* The mark of a bad cluster is the one before those that end a chain. */
static void fat_audit_free(struct fat_audit *a)
{
	uint32_t bad = fat_end_mark(&a->g) - 1, free_clusters = 0;
	uint64_t at = (uint64_t)a->g.info * a->g.sector;

	for (uint32_t i = 2; i < a->g.clusters + 2; i++) {
		uint32_t entry = fat_entry(&a->g, a->disk, 0, i);

		free_clusters += !entry;
		if (entry && entry != bad && !fat_audit_is_used(a, i))
			audit_breach(a->audit, "a cluster in use belongs to no file", "cluster %u",
				     i);
		if (!entry && fat_audit_is_used(a, i))
			audit_breach(a->audit, "a chain has a cluster that is free", "cluster %u",
				     i);
	}
	if (a->g.bits == 32 && a->g.info && a->g.info < a->g.reserved &&
	    at + FAT_SECTOR <= a->size) {
		uint32_t said = (uint32_t)ONDISK_LE(a->disk + at, fsinfo, free_clusters);

		if (said != (uint32_t)FAT_FREE_UNKNOWN && said != free_clusters)
			audit_breach(a->audit, "the number of free clusters is wrong",
				     "%u, and %u are free", said, free_clusters);
	}
}

void fat_audit(struct audit *to, const uint8_t *disk, uint64_t size)
{
	struct fat_audit a = { .audit = to, .disk = disk, .size = size };
	struct fat_audit_dir root = { .is_root = true };

	if (!fat_geometry_read(&a.g, disk, size) || a.g.clusters > FAT_AUDITED_MAX)
		return;
	to->has_rules = true;
	a.used = must_alloc((a.g.clusters + 2) / 8 + 1);
	if (a.g.bits == 32)
		fat_audit_chain(&a, a.g.root_cluster, &root);
	else
		fat_audit_entries(&a, &root, a.g.root_at, (uint64_t)a.g.root_entries * FAT_ENTRY);
	fat_audit_dir_end(&a, &root);
	fat_audit_state(&a);
	fat_audit_tables(&a);
	fat_audit_free(&a);
	free(a.used);
}
