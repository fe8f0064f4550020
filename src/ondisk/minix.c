/* minix.c -- where the structures of a Minix file system lie: V1, V2 and V3, little-endian.
 *
 * Boot block, superblock, bitmap of inodes, bitmap of zones, table of inodes, zones. There are no
 * checksums. */
#include "ondisk/minix.h"

#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/walk.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

struct minix_version {
	uint16_t magic;
	uint8_t number, entry_size;
};

static const struct minix_version minix_versions[] = {
	{ 0x137f, 1, 16 }, { 0x138f, 1, 32 }, { 0x2468, 2, 16 },
	{ 0x2478, 2, 32 }, { 0x4d5a, 3, 64 },
};

struct minix_disk {
	struct ondisk_walk walk;
	struct minix_geometry g;
	const struct ondisk_structure *inode, *indirect, *entry;
	struct walk_set inodes_met, zones_met;
};

/* An inode whose zones are walked. */
struct minix_file {
	uint32_t inode;
	uint16_t mode;
	uint32_t left; /* bytes of it that were not met yet */
	const char *path;
	unsigned depth; /* of directories */
};

static const struct minix_version *minix_version(const uint8_t *disk, uint64_t size)
{
	const uint8_t *p = disk + MINIX_SUPER_AT;
	uint64_t magic, magic3;

	if (size < MINIX_SUPER_AT + MINIX_BLOCK)
		return NULL;
	magic = ONDISK_LE(p, minix_super_block, s_magic);
	magic3 = ONDISK_LE(p, minix3_super_block, s_magic);
	for (size_t i = 0; i < ARRAY_LEN(minix_versions); i++)
		if (minix_versions[i].magic == (minix_versions[i].number == 3 ? magic3 : magic))
			return &minix_versions[i];
	return NULL;
}

static bool minix_recognises(const uint8_t *disk, uint64_t size)
{
	return minix_version(disk, size) != NULL;
}

static void minix_read_super(struct minix_geometry *g, const uint8_t *p)
{
	g->block = MINIX_BLOCK;
	g->inodes = ONDISK_LE(p, minix_super_block, s_ninodes);
	g->zones = g->first ? ONDISK_LE(p, minix_super_block, s_nzones)
			    : ONDISK_LE(p, minix_super_block, s_zones);
	g->imap_blocks = ONDISK_LE(p, minix_super_block, s_imap_blocks);
	g->zmap_blocks = ONDISK_LE(p, minix_super_block, s_zmap_blocks);
	g->first_zone = ONDISK_LE(p, minix_super_block, s_firstdatazone);
	g->log_zone_size = ONDISK_LE(p, minix_super_block, s_log_zone_size);
}

static void minix_read_super3(struct minix_geometry *g, const uint8_t *p)
{
	g->block = ONDISK_LE(p, minix3_super_block, s_blocksize);
	g->inodes = ONDISK_LE(p, minix3_super_block, s_ninodes);
	g->zones = ONDISK_LE(p, minix3_super_block, s_zones);
	g->imap_blocks = ONDISK_LE(p, minix3_super_block, s_imap_blocks);
	g->zmap_blocks = ONDISK_LE(p, minix3_super_block, s_zmap_blocks);
	g->first_zone = ONDISK_LE(p, minix3_super_block, s_firstdatazone);
	g->log_zone_size = ONDISK_LE(p, minix3_super_block, s_log_zone_size);
}

bool minix_geometry_read(struct minix_geometry *ret, const uint8_t *disk, uint64_t size)
{
	const struct minix_version *version = minix_version(disk, size);

	if (!version)
		return false;
	*ret = (struct minix_geometry){
		.first = version->number == 1,
		.third = version->number == 3,
		.entry_size = version->entry_size,
		.name_at = version->number == 3 ? 4 : 2,
		.inode_size = version->number == 1 ? MINIX_INODE : 2 * MINIX_INODE,
		.pointer_size = version->number == 1 ? 2 : 4,
		.pointers = version->number == 1 ? MINIX_ZONES : MINIX_ZONES + 1,
		.zones_at =
			version->number == 1 ? minix_inode_i_zone_0_AT : minix2_inode_i_zone_0_AT,
	};
	if (ret->third)
		minix_read_super3(ret, disk + MINIX_SUPER_AT);
	else
		minix_read_super(ret, disk + MINIX_SUPER_AT);
	ret->imap_at = 2 * (uint64_t)ret->block;
	ret->zmap_at = ret->imap_at + (uint64_t)ret->imap_blocks * ret->block;
	ret->inodes_at = ret->zmap_at + (uint64_t)ret->zmap_blocks * ret->block;
	return true;
}

const char *minix_geometry_problem(const struct minix_geometry *g)
{
	uint64_t bits = (uint64_t)g->block * 8;

	if (g->block < MINIX_BLOCK || g->block & (g->block - 1) || g->log_zone_size)
		return "the size of blocks or zones cannot be";
	if (g->inodes >= g->imap_blocks * bits || g->zones > g->zmap_blocks * bits)
		return "the bitmaps are too small for the inodes and zones";
	return NULL;
}

static void minix_walk_super(struct minix_disk *x)
{
	const char *problem = minix_geometry_problem(&x->g);

	if (x->g.third)
		walk_add(&x->walk, &minix_def_minix3_super_block, MINIX_SUPER_AT,
			 minix3_super_block_s_disk_version_AT + 1, "superblock");
	else
		walk_add(&x->walk, &minix_def_minix_super_block, MINIX_SUPER_AT,
			 minix_super_block_s_zones_AT + minix_super_block_s_zones_LEN,
			 "superblock");
	if (problem)
		walk_fail(&x->walk, "%s", problem);
}

/* Bit 0 of both is taken. */
static void minix_walk_maps(struct minix_disk *x)
{
	walk_add_bitmap(&x->walk, &minix_def_imap, &minix_def_imap_edge, x->g.imap_at,
			(uint64_t)x->g.inodes + 1, "inode bitmap");
	walk_add_bitmap(&x->walk, &minix_def_zmap, &minix_def_zmap_edge, x->g.zmap_at, x->g.zones,
			"zone bitmap");
}

static void minix_walk_inode(struct minix_disk *x, uint32_t number, const char *path,
			     unsigned depth);

static void minix_walk_entries(struct minix_disk *x, struct minix_file *f, uint64_t at,
			       uint32_t len)
{
	uint32_t size = x->g.entry_size, name_at = x->g.name_at;
	char path[WALK_PATH_MAX];

	for (uint32_t i = 0; i + size <= len; i += size) {
		const uint8_t *p = walk_read(&x->walk, at + i, size, "directory entry");
		uint32_t inode;

		if (!p)
			return;
		inode = ondisk_le(p, name_at);
		walk_path(path, f->path, p + name_at, size - name_at);
		walk_add(&x->walk, x->entry, at + i, size, "inode %u, %s %s", f->inode,
			 inode ? "entry" : "unused entry", path);
		if (inode)
			minix_walk_inode(x, inode, path, f->depth + 1);
	}
}

static void minix_walk_content(struct minix_disk *x, struct minix_file *f, uint64_t at)
{
	uint32_t len = f->left < x->g.block ? f->left : x->g.block;

	f->left -= len;
	if (S_ISDIR(f->mode))
		minix_walk_entries(x, f, at, len);
	else if (S_ISLNK(f->mode) && len)
		walk_add(&x->walk, &minix_def_symlink, at, len, "inode %u, %s", f->inode, f->path);
}

static void minix_walk_zone(struct minix_disk *x, struct minix_file *f, uint32_t zone,
			    unsigned level);

static void minix_walk_indirect(struct minix_disk *x, struct minix_file *f, uint32_t zone,
				unsigned level)
{
	uint64_t at = (uint64_t)zone * x->g.block;
	const uint8_t *p = walk_read(&x->walk, at, x->g.block, "indirect block");
	uint32_t size = x->g.pointer_size, last = 0;

	for (uint32_t i = 0; p && i < x->g.block; i += size)
		if (ondisk_le(p + i, size))
			last = i;
	for (uint32_t i = 0; p && i < x->g.block && i <= last + size; i += size) {
		uint32_t next = ondisk_le(p + i, size);

		if (!next && i <= last)
			continue;
		if (!walk_add(&x->walk, x->indirect, at + i, size,
			      "inode %u, indirect block %u[%u]", f->inode, zone, i / size))
			return;
		minix_walk_zone(x, f, next, level - 1);
	}
}

/* level: how many indirect blocks lie between the zone and content. */
static void minix_walk_zone(struct minix_disk *x, struct minix_file *f, uint32_t zone,
			    unsigned level)
{
	if (!zone || !walk_set_add(&x->walk, &x->zones_met, zone, "zone"))
		return;
	if (level)
		minix_walk_indirect(x, f, zone, level);
	else
		minix_walk_content(x, f, (uint64_t)zone * x->g.block);
}

/* Directories and symbolic links have no holes, so that `left` is right where it matters. */
static void minix_walk_zones(struct minix_disk *x, struct minix_file *f, const uint8_t *inode)
{
	uint32_t size = x->g.pointer_size;

	for (unsigned i = 0; i < x->g.pointers && !x->walk.status; i++)
		minix_walk_zone(x, f, ondisk_le(inode + x->g.zones_at + i * size, size),
				i < MINIX_DIRECT ? 0 : i - MINIX_DIRECT + 1);
}

static const uint8_t *minix_add_inode(struct minix_disk *x, uint32_t number, const char *label)
{
	return walk_add(&x->walk, x->inode, x->g.inodes_at + (number - 1ULL) * x->g.inode_size,
			x->g.inode_size, "inode %u, %s", number, label);
}

static void minix_walk_inode(struct minix_disk *x, uint32_t number, const char *path,
			     unsigned depth)
{
	struct minix_file f = { .inode = number, .path = path, .depth = depth };
	const uint8_t *p;

	if (!walk_set_add(&x->walk, &x->inodes_met, number, "inode"))
		return;
	if (depth > WALK_DEPTH_MAX) {
		walk_fail(&x->walk, "directories are more than %d deep", WALK_DEPTH_MAX);
		return;
	}
	p = minix_add_inode(x, number, *path ? path : "/");
	if (!p)
		return;
	f.mode = ONDISK_LE(p, minix_inode, i_mode);
	f.left =
		x->g.first ? ONDISK_LE(p, minix_inode, i_size) : ONDISK_LE(p, minix2_inode, i_size);
	if (S_ISREG(f.mode) || S_ISDIR(f.mode) || S_ISLNK(f.mode))
		minix_walk_zones(x, &f, p);
}

static void minix_walk_unused(struct minix_disk *x)
{
	const uint8_t *imap =
		walk_read(&x->walk, x->g.imap_at, x->g.inodes / 8 + 1, "inode bitmap");

	for (uint32_t i = MINIX_ROOT; imap && i <= x->g.inodes; i++) {
		if (imap[i / 8] & 1U << i % 8)
			continue;
		minix_add_inode(x, i, "unused");
		return;
	}
}

static int minix_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct minix_disk x = { .walk = { .map = m, .disk = disk, .err = err } };

	must(minix_geometry_read(&x.g, disk, m->disk_size));
	x.inode = x.g.first ? &minix_def_minix_inode : &minix_def_minix2_inode;
	x.indirect = x.g.first ? &minix_def_minix_indirect : &minix_def_minix2_indirect;
	x.entry = x.g.third ? &minix_def_minix3_dir_entry : &minix_def_minix_dir_entry;
	minix_walk_super(&x);
	walk_set_make(&x.walk, &x.inodes_met, (uint64_t)x.g.inodes + 1, "inodes");
	walk_set_make(&x.walk, &x.zones_met, x.g.zones, "zones");
	m->block_size = x.g.block;
	minix_walk_maps(&x);
	minix_walk_inode(&x, MINIX_ROOT, "", 0);
	minix_walk_unused(&x);
	walk_set_free(&x.inodes_met);
	walk_set_free(&x.zones_met);
	return x.walk.status;
}

const struct ondisk_format ondisk_minix = {
	.name = "minix",
	.structures = minix_def_structures,
	.structure_count = ARRAY_LEN(minix_def_structures),
	.recognises = minix_recognises,
	.walk = minix_walk,
};
