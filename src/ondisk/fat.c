/* fat.c -- where the structures of FAT12, FAT16 and FAT32 lie.
 *
 * Reserved sectors with the boot sector, the allocation tables, the root directory (in FAT32, a
 * file like others), clusters. The only checksum is that of a short name, in the parts of its long
 * one. */
#include "ondisk/fat.h"

#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/walk.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	FAT12_CLUSTERS_MAX = 4084,
	FAT_SLOTS_MAX = 20,
	FAT_SLOT_CHARS = 13,
};

enum fat_checksum { FAT_ALIAS = 1 }; /* of: where the checksum is */

struct fat_disk {
	struct ondisk_walk walk;
	struct fat_geometry g;
	struct walk_set met; /* clusters */
};

/* A directory that is walked: its clusters come one after another. */
struct fat_dir {
	const char *path; /* "" is the root */
	unsigned depth;
	bool ended;
	char name[FAT_SLOTS_MAX * FAT_SLOT_CHARS + 1]; /* as far as slots of it were met */
	uint64_t slots[FAT_SLOTS_MAX];
	unsigned slot_count;
};

static bool fat_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static bool fat_recognises(const uint8_t *disk, uint64_t size)
{
	uint64_t sector, media;

	if (size < FAT_SECTOR || ONDISK_LE(disk, boot_sector, boot_sign) != 0xaa55)
		return false;
	sector = ONDISK_LE(disk, boot_sector, sector_size);
	media = ONDISK_LE(disk, boot_sector, media);
	return fat_power_of_two(sector) && sector >= FAT_SECTOR && sector <= 4096 &&
	       fat_power_of_two(ONDISK_LE(disk, boot_sector, sec_per_clus)) &&
	       ONDISK_LE(disk, boot_sector, reserved) && ONDISK_LE(disk, boot_sector, fats) &&
	       (media == 0xf0 || media >= 0xf8);
}

/* ---- geometry ---- */

static void fat_read_boot32(struct fat_geometry *g, const uint8_t *p)
{
	g->bits = 32;
	g->fat_sectors = ONDISK_LE(p, boot_sector32, length);
	g->root_cluster = ONDISK_LE(p, boot_sector32, root_cluster);
	g->info = ONDISK_LE(p, boot_sector32, info_sector);
	g->backup = ONDISK_LE(p, boot_sector32, backup_boot);
}

bool fat_geometry_read(struct fat_geometry *ret, const uint8_t *disk, uint64_t size)
{
	struct fat_geometry g = { 0 };
	uint64_t sectors, before;

	if (!fat_recognises(disk, size))
		return false;
	sectors = ONDISK_LE(disk, boot_sector, sectors);
	g.sector = ONDISK_LE(disk, boot_sector, sector_size);
	g.cluster = g.sector * ONDISK_LE(disk, boot_sector, sec_per_clus);
	g.reserved = ONDISK_LE(disk, boot_sector, reserved);
	g.fats = ONDISK_LE(disk, boot_sector, fats);
	g.root_entries = ONDISK_LE(disk, boot_sector, dir_entries);
	g.fat_sectors = ONDISK_LE(disk, boot_sector, fat_length);
	if (!sectors)
		sectors = ONDISK_LE(disk, boot_sector, total_sect);
	if (!g.fat_sectors)
		fat_read_boot32(&g, disk);
	g.root_at = (g.reserved + (uint64_t)g.fats * g.fat_sectors) * g.sector;
	g.data_at = g.root_at +
		    ((uint64_t)g.root_entries * FAT_ENTRY + g.sector - 1) / g.sector * g.sector;
	before = g.data_at / g.sector;
	if (sectors <= before || sectors > size / g.sector)
		return false;
	g.clusters = (sectors - before) / (g.cluster / g.sector);
	if (g.bits != 32)
		g.bits = g.clusters > FAT12_CLUSTERS_MAX ? 16 : 12;
	if ((g.clusters + 2ULL) * g.bits > (uint64_t)g.fat_sectors * g.sector * 8)
		return false;
	*ret = g;
	return true;
}

uint64_t fat_entry_at(const struct fat_geometry *g, unsigned table, uint32_t cluster)
{
	uint64_t from = (g->reserved + (uint64_t)table * g->fat_sectors) * g->sector;

	return from + (g->bits == 12 ? cluster + cluster / 2 : (uint64_t)cluster * g->bits / 8);
}

uint32_t fat_entry(const struct fat_geometry *g, const uint8_t *disk, unsigned table,
		   uint32_t cluster)
{
	unsigned size = g->bits == 32 ? 4 : 2;
	uint32_t entry = (uint32_t)ondisk_le(disk + fat_entry_at(g, table, cluster), size);

	if (g->bits == 12)
		return cluster % 2 ? entry >> 4 : entry & 0xfff;
	return g->bits == 32 ? entry & 0x0fffffff : entry;
}

uint32_t fat_end_mark(const struct fat_geometry *g)
{
	return g->bits == 12 ? 0xff8 : g->bits == 16 ? 0xfff8 : 0x0ffffff8;
}

/* ---- the reserved sectors ---- */

static void fat_add_boot(struct fat_disk *x, uint64_t at, const char *label)
{
	walk_add(&x->walk, &fat_def_boot_sector, at, FAT_SECTOR, "%s", label);
	if (x->g.bits == 32)
		walk_add(&x->walk, &fat_def_boot_sector32, at, FAT_SECTOR, "%s", label);
	else
		walk_add(&x->walk, &fat_def_boot_sector16, at, FAT_SECTOR, "%s", label);
}

static void fat_walk_reserved(struct fat_disk *x)
{
	fat_add_boot(x, 0, "boot sector");
	if (x->g.bits != 32)
		return;
	if (x->g.info && x->g.info < x->g.reserved)
		walk_add(&x->walk, &fat_def_fsinfo, (uint64_t)x->g.info * x->g.sector, FAT_SECTOR,
			 "information sector");
	if (!x->g.backup || x->g.backup >= x->g.reserved)
		return;
	fat_add_boot(x, (uint64_t)x->g.backup * x->g.sector, "backup of the boot sector");
	/* mkfs.fat has one behind it. */
	if (x->g.info && x->g.info + x->g.backup < x->g.reserved)
		walk_add(&x->walk, &fat_def_fsinfo,
			 ((uint64_t)x->g.info + x->g.backup) * x->g.sector, FAT_SECTOR,
			 "backup of the information sector");
}

/* ---- the allocation tables ---- */

static uint32_t fat_next(struct fat_disk *x, uint32_t cluster)
{
	return fat_entry(&x->g, x->walk.disk, 0, cluster);
}

/* In all tables. */
static void fat_add_entry(struct fat_disk *x, uint32_t cluster, const char *what)
{
	const struct ondisk_structure *s = x->g.bits == 32 ? &fat_def_fat32
					 : x->g.bits == 16 ? &fat_def_fat16
					 : cluster % 2     ? &fat_def_fat12_odd
							   : &fat_def_fat12_even;

	for (unsigned i = 0; i < x->g.fats && !x->walk.status; i++)
		walk_add(&x->walk, s, fat_entry_at(&x->g, i, cluster), x->g.bits == 32 ? 4 : 2,
			 "FAT %u[%u], %s", i + 1, cluster, what);
}

static void fat_walk_other_entries(struct fat_disk *x)
{
	fat_add_entry(x, 0, "media");
	fat_add_entry(x, 1, "state");
	for (uint32_t i = 2; i < x->g.clusters + 2 && !x->walk.status; i++)
		if (!fat_next(x, i)) {
			fat_add_entry(x, i, "free");
			return;
		}
}

/* ---- directories ---- */

static void fat_walk_chain(struct fat_disk *x, uint32_t first, const char *path,
			   struct fat_dir *dir);

static void fat_note_slot(struct fat_dir *dir, const uint8_t *p, uint64_t at)
{
	static const uint8_t chars[FAT_SLOT_CHARS] = {
		1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30
	};
	unsigned place = (p[dir_slot_id_AT] & 0x3f) - 1U;

	if (place >= FAT_SLOTS_MAX || dir->slot_count >= FAT_SLOTS_MAX)
		return;
	dir->slots[dir->slot_count++] = at;
	for (unsigned i = 0; i < FAT_SLOT_CHARS; i++) {
		uint16_t c = (uint16_t)ondisk_le(p + chars[i], 2);

		dir->name[place * FAT_SLOT_CHARS + i] = (char)(c == 0xffff ? 0 : c > 126 ? '?' : c);
	}
}

static void fat_forget_slots(struct fat_dir *dir)
{
	dir->slot_count = 0;
	memset(dir->name, 0, sizeof(dir->name));
}

/* "NAME    EXT" is NAME.EXT. */
static size_t fat_short_name(char ret[FAT_NAME + 1], const uint8_t *p)
{
	size_t n = 0;

	for (unsigned i = 0; i < FAT_NAME; i++) {
		if (p[i] == ' ')
			continue;
		if (i >= 8 && !memchr(ret, '.', n))
			ret[n++] = '.';
		ret[n++] = (char)p[i];
	}
	return n;
}

static void fat_walk_file(struct fat_disk *x, struct fat_dir *dir, const uint8_t *p,
			  const char *path)
{
	uint64_t attr = ONDISK_LE(p, dir_entry, attr);
	uint32_t first = (uint32_t)ONDISK_LE(p, dir_entry, start);
	struct fat_dir below = { .path = path, .depth = dir->depth + 1 };

	if (x->g.bits == 32)
		first |= (uint32_t)ONDISK_LE(p, dir_entry, starthi) << 16;
	if (attr & FAT_ATTR_VOLUME || p[0] == '.' || !first)
		return;
	if (below.depth > WALK_DEPTH_MAX)
		walk_fail(&x->walk, "directories are more than %d deep", WALK_DEPTH_MAX);
	fat_walk_chain(x, first, path, attr & FAT_ATTR_DIR ? &below : NULL);
}

static void fat_walk_entry(struct fat_disk *x, struct fat_dir *dir, uint64_t at, const uint8_t *p)
{
	char path[WALK_PATH_MAX], name[FAT_NAME + 1];
	size_t len = fat_short_name(name, p);

	if (dir->slot_count)
		walk_path(path, dir->path, (const uint8_t *)dir->name, sizeof(dir->name));
	else
		walk_path(path, dir->path, (const uint8_t *)name, len);
	walk_add(&x->walk, &fat_def_dir_entry, at, FAT_ENTRY, "%s", path);
	for (unsigned i = 0; i < dir->slot_count; i++) {
		walk_add(&x->walk, &fat_def_dir_slot, dir->slots[i], FAT_ENTRY, "%s", path);
		ondisk_cover(
			x->walk.map,
			(struct ondisk_cover){ .at = at,
					       .len = FAT_NAME,
					       .kind = FAT_ALIAS,
					       .of = dir->slots[i] + dir_slot_alias_checksum_AT });
	}
	fat_forget_slots(dir);
	fat_walk_file(x, dir, p, path);
}

static void fat_walk_entries(struct fat_disk *x, struct fat_dir *dir, uint64_t at, uint32_t len)
{
	const char *path = *dir->path ? dir->path : "/";

	for (uint32_t i = 0; i + FAT_ENTRY <= len && !dir->ended; i += FAT_ENTRY) {
		const uint8_t *p = walk_read(&x->walk, at + i, FAT_ENTRY, "directory entry");

		if (!p)
			return;
		if (p[0] == 0) {
			dir->ended = true;
			walk_add(&x->walk, &fat_def_dir_entry, at + i, FAT_ENTRY, "%s, the end",
				 path);
		} else if (p[0] == FAT_DELETED) {
			fat_forget_slots(dir);
			walk_add(&x->walk, &fat_def_dir_entry, at + i, FAT_ENTRY, "%s, deleted",
				 path);
		} else if (ONDISK_LE(p, dir_entry, attr) == FAT_ATTR_SLOT) {
			fat_note_slot(dir, p, at + i);
		} else {
			fat_walk_entry(x, dir, at + i, p);
		}
	}
}

/* dir: NULL for what is no directory. */
static void fat_walk_chain(struct fat_disk *x, uint32_t first, const char *path,
			   struct fat_dir *dir)
{
	uint32_t end = fat_end_mark(&x->g);

	for (uint32_t i = first; i < end;) {
		if (i < 2)
			walk_fail(&x->walk, "%s has cluster %u", path, i);
		if (!walk_set_add(&x->walk, &x->met, i, "cluster"))
			return;
		fat_add_entry(x, i, *path ? path : "/");
		if (dir)
			fat_walk_entries(x, dir, x->g.data_at + (i - 2ULL) * x->g.cluster,
					 x->g.cluster);
		i = fat_next(x, i);
	}
}

static int fat_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct fat_disk x = { .walk = { .map = m, .disk = disk, .err = err } };
	struct fat_dir root = { .path = "" };

	if (!fat_geometry_read(&x.g, disk, m->disk_size)) {
		walk_fail(&x.walk, "the tables and clusters do not fit the disk");
		return x.walk.status;
	}
	m->block_size = x.g.cluster;
	fat_walk_reserved(&x);
	walk_set_make(&x.walk, &x.met, x.g.clusters + 2ULL, "clusters");
	fat_walk_other_entries(&x);
	if (x.g.bits == 32)
		fat_walk_chain(&x, x.g.root_cluster, "", &root);
	else
		fat_walk_entries(&x, &root, x.g.root_at, x.g.root_entries * FAT_ENTRY);
	walk_set_free(&x.met);
	return x.walk.status;
}

static void fat_seal(struct ondisk_sealing *s, const struct ondisk_cover *cover)
{
	uint8_t sum = 0;

	must(cover->kind == FAT_ALIAS);
	for (unsigned i = 0; i < FAT_NAME; i++)
		sum = (uint8_t)((sum << 7 | sum >> 1) + s->disk[cover->at + i]);
	ondisk_seal_put(s, cover->of, &sum, 1);
}

const struct ondisk_format ondisk_fat = {
	.name = "fat",
	.structures = fat_def_structures,
	.structure_count = ARRAY_LEN(fat_def_structures),
	.recognises = fat_recognises,
	.walk = fat_walk,
	.seal = fat_seal,
};
