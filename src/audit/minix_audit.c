/* minix_audit.c -- the rules of Minix V1, V2 and V3.
 *
 * They are those that fs/minix relies on: bitmap.c (what is in use has its bit), itree_common.c
 * (zones), namei.c and dir.c (entries, "." and "..", numbers of links). Sizes of files are not
 * compared with their zones: a file may have holes, and the kernel does not mind zones behind the
 * end. */
#include "audit/minix_audit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/names.h"
#include "base/must.h"
#include "ondisk/minix.h"

enum {
	MINIX_STATE_VALID = 1,
	MINIX_STATE_ERRORS = 2,
	MINIX_AUDITED_MAX = 1 << 20, /* inodes, zones */
	MINIX_DIR_MAX = 1 << 20,     /* bytes */
	MINIX_DEPTH_MAX = 128,
};

/* What is known of an inode once all that can be reached were read. */
struct minix_audit_inode {
	uint16_t mode;
	uint32_t names; /* entries that lead to it, with "." and ".." */
	uint32_t parent;
	bool read, named; /* named: it has a name other than "." and ".." */
};

struct minix_audit {
	struct audit *audit;
	const uint8_t *disk;
	uint64_t size;
	struct minix_geometry g;
	uint8_t *used; /* bit for each zone */
	struct minix_audit_inode *inodes;
};

/* A directory while it is read. */
struct minix_audit_dir {
	uint32_t number, left; /* bytes of it that were not met yet */
	unsigned entries, depth;
	struct audit_names names;
};

static bool minix_audit_bit(const uint8_t *bits, uint64_t number)
{
	return bits[number / 8] & 1U << number % 8;
}

static const uint8_t *minix_audit_inode_at(const struct minix_audit *a, uint32_t number)
{
	return a->disk + a->g.inodes_at + (number - 1ULL) * a->g.inode_size;
}

static uint32_t minix_audit_size_of(const struct minix_audit *a, const uint8_t *inode)
{
	return a->g.first ? ONDISK_LE(inode, minix_inode, i_size)
			  : ONDISK_LE(inode, minix2_inode, i_size);
}

/* A zone is used; false: it is not on the disk, or in use already. */
static bool minix_audit_use(struct minix_audit *a, uint32_t zone, uint32_t inode)
{
	if (zone < a->g.first_zone || zone >= a->g.zones) {
		audit_breach(a->audit, "a zone number lies outside of the file system",
			     "zone %u of inode %u", zone, inode);
		return false;
	}
	if (minix_audit_bit(a->used, zone)) {
		audit_breach(a->audit, "a zone is used twice", "zone %u, inode %u", zone, inode);
		return false;
	}
	a->used[zone / 8] |= 1 << zone % 8;
	return true;
}

/* ---- directories ---- */

static void minix_audit_file(struct minix_audit *a, uint32_t number, uint32_t parent,
			     unsigned depth);

static void minix_audit_name(struct minix_audit *a, struct minix_audit_dir *d, const uint8_t *name,
			     size_t len)
{
	if (memchr(name, '/', len) || !len)
		audit_breach(a->audit, "a name has a character that it cannot have", "directory %u",
			     d->number);
	audit_names_add(&d->names, name, len);
}

static void minix_audit_child(struct minix_audit *a, struct minix_audit_dir *d, uint32_t number)
{
	struct minix_audit_inode *i = &a->inodes[number];

	minix_audit_file(a, number, d->number, d->depth + 1);
	if (S_ISDIR(i->mode) && (i->named || number == MINIX_ROOT))
		audit_breach(a->audit, "a directory has two names", "inode %u", number);
	i->named = true;
}

static void minix_audit_entry(struct minix_audit *a, struct minix_audit_dir *d, const uint8_t *e)
{
	uint32_t number = ondisk_le(e, a->g.name_at);
	const uint8_t *name = e + a->g.name_at;
	size_t len = strnlen((const char *)name, a->g.entry_size - a->g.name_at);
	unsigned place = d->entries++;
	uint32_t expected = place ? a->inodes[d->number].parent : d->number;

	if (place < 2 && (len != place + 1 || memcmp(name, "..", len) != 0 || number != expected))
		audit_breach(a->audit, "a directory does not begin with \".\" and \"..\"",
			     "directory %u", d->number);
	if (!number)
		return;
	if (number > a->g.inodes) {
		audit_breach(a->audit, "an entry leads to an inode that there is not",
			     "directory %u: inode %u", d->number, number);
		return;
	}
	if (place >= 2) {
		minix_audit_name(a, d, name, len);
		minix_audit_child(a, d, number);
	}
	a->inodes[number].names++;
}

static void minix_audit_dir_end(struct minix_audit *a, struct minix_audit_dir *d)
{
	if (audit_names_twice(&d->names))
		audit_breach(a->audit, "a directory has a name twice", "directory %u", d->number);
	if (d->entries < 2)
		audit_breach(a->audit, "a directory does not begin with \".\" and \"..\"",
			     "directory %u", d->number);
	audit_names_free(&d->names);
}

/* ---- zones ---- */

static void minix_audit_content(struct minix_audit *a, struct minix_audit_dir *d, uint32_t zone)
{
	const uint8_t *p = a->disk + (uint64_t)zone * a->g.block;
	uint32_t len = d->left < a->g.block ? d->left : a->g.block;

	for (uint32_t i = 0; i + a->g.entry_size <= len; i += a->g.entry_size)
		minix_audit_entry(a, d, p + i);
	d->left -= len;
}

/* level: how many indirect blocks lie between the zone and content; dir: NULL if it is no
 * directory. */
static void minix_audit_zone(struct minix_audit *a, uint32_t inode, uint32_t zone, unsigned level,
			     struct minix_audit_dir *dir)
{
	const uint8_t *p = a->disk + (uint64_t)zone * a->g.block;
	uint32_t size = a->g.pointer_size;

	if (!zone || !minix_audit_use(a, zone, inode))
		return;
	if (!level && dir)
		minix_audit_content(a, dir, zone);
	for (uint32_t i = 0; level && i < a->g.block; i += size)
		minix_audit_zone(a, inode, ondisk_le(p + i, size), level - 1, dir);
}

static void minix_audit_zones(struct minix_audit *a, uint32_t number, struct minix_audit_dir *dir)
{
	const uint8_t *zones = minix_audit_inode_at(a, number) + a->g.zones_at;
	uint32_t size = a->g.pointer_size;

	for (unsigned i = 0; i < a->g.pointers; i++)
		minix_audit_zone(a, number, ondisk_le(zones + i * size, size),
				 i < MINIX_DIRECT ? 0 : i - MINIX_DIRECT + 1, dir);
}

/* ---- inodes ---- */

static bool minix_audit_type_is_known(uint16_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
	       S_ISFIFO(mode) || S_ISSOCK(mode);
}

static void minix_audit_dir(struct minix_audit *a, uint32_t number, unsigned depth)
{
	uint32_t size = minix_audit_size_of(a, minix_audit_inode_at(a, number));
	struct minix_audit_dir d = { .number = number, .left = size, .depth = depth };

	if (size % a->g.entry_size)
		audit_breach(a->audit, "the size of a directory is no multiple of an entry's",
			     "inode %u: %u", number, size);
	if (size > MINIX_DIR_MAX || depth > MINIX_DEPTH_MAX)
		return;
	minix_audit_zones(a, number, &d);
	minix_audit_dir_end(a, &d);
}

/* Once for each inode, when its first name is met. */
static void minix_audit_file(struct minix_audit *a, uint32_t number, uint32_t parent,
			     unsigned depth)
{
	struct minix_audit_inode *i = &a->inodes[number];

	if (i->read)
		return;
	i->read = true;
	i->parent = parent;
	i->mode = ONDISK_LE(minix_audit_inode_at(a, number), minix_inode, i_mode);
	if (!minix_audit_type_is_known(i->mode))
		audit_breach(a->audit, "an inode in use has no type", "inode %u: mode 0%o", number,
			     i->mode);
	else if (S_ISDIR(i->mode))
		minix_audit_dir(a, number, depth);
	else if (S_ISREG(i->mode) || S_ISLNK(i->mode))
		minix_audit_zones(a, number, NULL);
}

static void minix_audit_inodes(struct minix_audit *a)
{
	const uint8_t *bits = a->disk + a->g.imap_at;

	for (uint32_t i = MINIX_ROOT; i <= a->g.inodes; i++) {
		const uint8_t *p = minix_audit_inode_at(a, i);
		uint32_t links = a->g.first ? ONDISK_LE(p, minix_inode, i_nlinks)
					    : ONDISK_LE(p, minix2_inode, i_nlinks);

		if (a->inodes[i].read && !minix_audit_bit(bits, i))
			audit_breach(a->audit, "an inode in use is free in the bitmap", "inode %u",
				     i);
		if (!a->inodes[i].read && minix_audit_bit(bits, i))
			audit_breach(a->audit,
				     "an inode that has no name is not free in the bitmap",
				     "inode %u", i);
		if (a->inodes[i].read && links != a->inodes[i].names)
			audit_breach(a->audit, "the number of links is not that of names",
				     "inode %u: %u, %u names", i, links, a->inodes[i].names);
	}
}

/* The bit of the first data zone is number 1. */
static void minix_audit_zone_bits(struct minix_audit *a)
{
	const uint8_t *bits = a->disk + a->g.zmap_at;

	for (uint32_t zone = a->g.first_zone; zone < a->g.zones; zone++) {
		bool bit = minix_audit_bit(bits, zone - a->g.first_zone + 1);

		if (minix_audit_bit(a->used, zone) && !bit)
			audit_breach(a->audit, "a zone in use is free in the bitmap", "zone %u",
				     zone);
		if (!minix_audit_bit(a->used, zone) && bit)
			audit_breach(a->audit,
				     "a zone that is not in use is not free in the bitmap",
				     "zone %u", zone);
	}
}

static void minix_audit_super(struct minix_audit *a)
{
	uint64_t state = ONDISK_LE(a->disk + MINIX_SUPER_AT, minix_super_block, s_state);

	if (!a->g.third && (state & MINIX_STATE_ERRORS || !(state & MINIX_STATE_VALID)))
		audit_breach(a->audit, "the superblock does not say that the disk is clean",
			     "s_state is %llu", (unsigned long long)state);
	if (!minix_audit_bit(a->disk + a->g.imap_at, 0) ||
	    !minix_audit_bit(a->disk + a->g.zmap_at, 0))
		audit_breach(a->audit, "the first bit of a bitmap is not set", "bit 0");
}

/* Whether everything that is read lies on the disk. */
static bool minix_audit_fits(const struct minix_audit *a)
{
	const struct minix_geometry *g = &a->g;
	uint64_t end = g->inodes_at + (uint64_t)g->inodes * g->inode_size;

	return !minix_geometry_problem(g) && g->inodes && g->inodes <= MINIX_AUDITED_MAX &&
	       g->zones <= MINIX_AUDITED_MAX && (uint64_t)g->zones * g->block <= a->size &&
	       end <= (uint64_t)g->first_zone * g->block && g->first_zone < g->zones;
}

void minix_audit(struct audit *to, const uint8_t *disk, uint64_t size)
{
	struct minix_audit a = { .audit = to, .disk = disk, .size = size };

	if (!minix_geometry_read(&a.g, disk, size) || !minix_audit_fits(&a))
		return;
	to->has_rules = true;
	a.used = must_alloc(a.g.zones / 8 + 1);
	a.inodes = must_alloc((a.g.inodes + 1ULL) * sizeof(*a.inodes));
	minix_audit_super(&a);
	minix_audit_file(&a, MINIX_ROOT, MINIX_ROOT, 0);
	minix_audit_inodes(&a);
	minix_audit_zone_bits(&a);
	free(a.used);
	free(a.inodes);
}
