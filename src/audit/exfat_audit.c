/* exfat_audit.c -- the rules of exFAT: clusters, the bitmap, directories.
 *
 * They are those of Microsoft's "exFAT file system specification": sections 3 (boot regions), 4
 * (table), 6 and 7 (entries of directories and what they say). */
#include "audit/exfat_audit.h"

#include <stdlib.h>
#include <string.h>

#include "audit/exfat_names.h"
#include "audit/names.h"
#include "base/must.h"
#include "ondisk/exfat.h"

enum {
	AUDITED_MAX = 1 << 22, /* clusters */
	DEPTH_MAX = 128,
	FLAG_DIRTY = 2, /* of the volume */
	FIRST_NAME = 2, /* in a set, behind those of the file and of the stream */
	LABEL_MAX = 11, /* characters */
};

struct exfat_audit {
	struct audit *audit;
	const uint8_t *disk;
	uint64_t size;
	struct exfat_geometry g;
	struct exfat_upcase upcase;
	const uint8_t *bitmap; /* NULL: none was found */
	uint8_t *used;         /* bit for each cluster */
};

/* A directory while it is read: its clusters come one after another. */
struct exfat_audit_dir {
	uint32_t first;
	unsigned depth;
	bool ended;
	const uint8_t *set[EXFAT_SET_MAX]; /* entries of a file, as far as they were met */
	unsigned count, wanted;
	struct audit_names names; /* in upper case */
};

static bool exfat_audit_is_used(const struct exfat_audit *a, uint32_t cluster)
{
	return a->used[cluster / 8] & 1U << cluster % 8;
}

/* ---- clusters ---- */

static void exfat_audit_entries(struct exfat_audit *a, struct exfat_audit_dir *d, const uint8_t *p);

static bool exfat_audit_use(struct exfat_audit *a, uint32_t cluster, uint32_t first)
{
	if (cluster < EXFAT_FIRST_CLUSTER || cluster >= a->g.clusters + EXFAT_FIRST_CLUSTER) {
		audit_breach(a->audit, "a chain leads to a cluster that there is not",
			     "cluster %u, in the chain from %u", cluster, first);
		return false;
	}
	if (exfat_audit_is_used(a, cluster)) {
		audit_breach(a->audit, "a cluster is used twice",
			     "cluster %u, in the chain from %u", cluster, first);
		return false;
	}
	a->used[cluster / 8] |= 1 << cluster % 8;
	return true;
}

/* All clusters are used, and are a directory's entries; is how many there are. wanted: so many
 * follow each other, where there is no chain. */
static uint64_t exfat_audit_clusters(struct exfat_audit *a, uint32_t first, bool chain,
				     uint64_t wanted, struct exfat_audit_dir *dir)
{
	uint64_t count = 0;

	for (uint32_t i = first; chain ? i < EXFAT_END : count < wanted; count++) {
		if (!exfat_audit_use(a, i, first))
			return count;
		if (dir)
			exfat_audit_entries(a, dir, a->disk + exfat_cluster_at(&a->g, i));
		i = chain ? (uint32_t)ondisk_le(a->disk + a->g.fat_at + i * 4ULL, 4) : i + 1;
	}
	return count;
}

static uint64_t exfat_audit_need(const struct exfat_audit *a, uint64_t size)
{
	return size / a->g.cluster + (size % a->g.cluster != 0);
}

/* ---- files ---- */

/* Another one begins, or the directory ends. */
static void exfat_audit_set_end(struct exfat_audit *a, struct exfat_audit_dir *d)
{
	if (d->count)
		audit_breach(a->audit, "entries of a file are missing", "directory at cluster %u",
			     d->first);
	d->count = 0;
}

static void exfat_audit_dir_end(struct exfat_audit *a, struct exfat_audit_dir *d)
{
	exfat_audit_set_end(a, d);
	if (audit_names_twice(&d->names))
		audit_breach(a->audit, "a directory has a name twice", "directory at cluster %u",
			     d->first);
	audit_names_free(&d->names);
}

/* What the stream says of the clusters. */
static void exfat_audit_stream(struct exfat_audit *a, const struct exfat_audit_dir *d,
			       const uint8_t *stream, bool is_dir)
{
	uint32_t first = (uint32_t)ONDISK_LE(stream, stream, start_clu);
	uint64_t size = ONDISK_LE(stream, stream, size), need = exfat_audit_need(a, size);
	bool chain = !(ONDISK_LE(stream, stream, flags) & EXFAT_NO_CHAIN);
	struct exfat_audit_dir below = { .first = first, .depth = d->depth + 1 };
	uint64_t count = 0;

	if (ONDISK_LE(stream, stream, valid_size) > size ||
	    (is_dir && (ONDISK_LE(stream, stream, valid_size) != size || size % a->g.cluster)))
		audit_breach(a->audit, "the valid size of a file cannot be",
			     "from cluster %u: %llu of %llu bytes", first,
			     (unsigned long long)ONDISK_LE(stream, stream, valid_size),
			     (unsigned long long)size);
	if (below.depth > DEPTH_MAX)
		return;
	if (first)
		count = exfat_audit_clusters(a, first, chain, need, is_dir ? &below : NULL);
	if (is_dir)
		exfat_audit_dir_end(a, &below);
	if (count != need)
		audit_breach(a->audit, "the size of a file does not fit its clusters",
			     "%llu bytes, %llu clusters from cluster %u", (unsigned long long)size,
			     (unsigned long long)count, first);
}

static void exfat_audit_name(struct exfat_audit *a, struct exfat_audit_dir *d)
{
	const uint8_t *stream = d->set[1];
	unsigned len = (unsigned)ONDISK_LE(stream, stream, name_len);
	uint8_t name[EXFAT_SET_MAX * EXFAT_NAME_CHARS * 2];

	for (unsigned i = FIRST_NAME; i < d->count; i++)
		memcpy(name + (size_t)(i - FIRST_NAME) * EXFAT_NAME_CHARS * 2,
		       d->set[i] + name_unicode_0_14_AT, EXFAT_NAME_CHARS * 2);
	if (!len || (len + EXFAT_NAME_CHARS - 1) / EXFAT_NAME_CHARS != d->count - FIRST_NAME) {
		audit_breach(a->audit, "the length of a name does not fit its entries",
			     "directory at cluster %u", d->first);
		return;
	}
	if (!exfat_name_is_valid(name, len))
		audit_breach(a->audit, "a name has a character that it cannot have",
			     "directory at cluster %u", d->first);
	exfat_name_fold(&a->upcase, name, len);
	if (ONDISK_LE(stream, stream, name_hash) != exfat_name_hash(name, len))
		audit_breach(a->audit, "the hash of a name is wrong", "directory at cluster %u",
			     d->first);
	audit_names_add(&d->names, name, 2 * (size_t)len);
}

/* All entries of a file are there. */
static void exfat_audit_set(struct exfat_audit *a, struct exfat_audit_dir *d)
{
	exfat_audit_name(a, d);
	d->count = 0;
	exfat_audit_stream(a, d, d->set[1], ONDISK_LE(d->set[0], file, attr) & EXFAT_ATTR_DIR);
}

static void exfat_audit_collect(struct exfat_audit *a, struct exfat_audit_dir *d, const uint8_t *e)
{
	if (e[0] == EXFAT_FILE) {
		exfat_audit_set_end(a, d);
		d->wanted = 1 + (unsigned)ONDISK_LE(e, file, num_ext);
	}
	if (e[0] == EXFAT_FILE ? d->wanted <= FIRST_NAME || d->wanted > EXFAT_SET_MAX
			       : !d->count || e[0] != (d->count == 1 ? EXFAT_STREAM : EXFAT_NAME)) {
		audit_breach(a->audit, "entries of a file cannot be", "directory at cluster %u",
			     d->first);
		d->count = 0;
		return;
	}
	d->set[d->count++] = e;
	if (d->count == d->wanted)
		exfat_audit_set(a, d);
}

static void exfat_audit_entries(struct exfat_audit *a, struct exfat_audit_dir *d, const uint8_t *p)
{
	for (uint32_t i = 0; i < a->g.cluster && !d->ended; i += EXFAT_DENTRY)
		switch (p[i]) {
		case EXFAT_FILE:
		case EXFAT_STREAM:
		case EXFAT_NAME:
			exfat_audit_collect(a, d, p + i);
			break;
		case EXFAT_LAST:
			d->ended = true;
			break;
		case EXFAT_LABEL:
			if (ONDISK_LE(p + i, label, char_cnt) > LABEL_MAX)
				audit_breach(a->audit, "the label is too long", "%u characters",
					     (unsigned)ONDISK_LE(p + i, label, char_cnt));
			break;
		default:
			break;
		}
}

/* ---- bitmap and table of upper-case characters ---- */

/* Where something of the root directory lies that must be there once, in clusters that follow each
 * other; NULL: it does not. */
static const uint8_t *exfat_audit_place(struct exfat_audit *a, const uint8_t *entry, uint64_t size)
{
	uint32_t first = (uint32_t)ONDISK_LE(entry, bitmap, start_clu);
	uint64_t need = exfat_audit_need(a, size);

	if (need > a->g.clusters || exfat_audit_clusters(a, first, false, need, NULL) != need)
		return NULL;
	return a->disk + exfat_cluster_at(&a->g, first);
}

static void exfat_audit_found(struct exfat_audit *a, const uint8_t *e)
{
	uint64_t size = ONDISK_LE(e, bitmap, size);

	if (e[0] == EXFAT_BITMAP && !a->bitmap && size == (a->g.clusters + 7) / 8)
		a->bitmap = exfat_audit_place(a, e, size);
	else if (e[0] == EXFAT_UPCASE && !a->upcase.table && size <= EXFAT_UPCASE_MAX)
		exfat_upcase_read(&a->upcase, exfat_audit_place(a, e, size), size);
	else if (e[0] == EXFAT_BITMAP || e[0] == EXFAT_UPCASE)
		audit_breach(a->audit, "the bitmap or the table of characters cannot be",
			     "entry 0x%02x, %llu bytes", e[0], (unsigned long long)size);
}

/* They are needed before anything else is read. False: they are not there. */
static bool exfat_audit_find(struct exfat_audit *a)
{
	uint32_t i = a->g.root;
	bool ended = false;

	for (uint32_t n = 0; n < a->g.clusters && i >= EXFAT_FIRST_CLUSTER &&
			     i < a->g.clusters + EXFAT_FIRST_CLUSTER && !ended;
	     n++) {
		const uint8_t *p = a->disk + exfat_cluster_at(&a->g, i);

		for (uint32_t k = 0; k < a->g.cluster && !ended; k += EXFAT_DENTRY) {
			ended = p[k] == EXFAT_LAST;
			exfat_audit_found(a, p + k);
		}
		i = (uint32_t)ondisk_le(a->disk + a->g.fat_at + i * 4ULL, 4);
	}
	if (a->bitmap && a->upcase.table)
		return true;
	audit_breach(a->audit, "the bitmap or the table of characters is missing", "root at %u",
		     a->g.root);
	return false;
}

static void exfat_audit_bitmap(struct exfat_audit *a)
{
	for (uint32_t i = 0; i < a->g.clusters; i++) {
		bool used = exfat_audit_is_used(a, i + EXFAT_FIRST_CLUSTER);

		if (used != !!(a->bitmap[i / 8] & 1U << i % 8))
			audit_breach(a->audit,
				     used ? "a cluster in use is free in the bitmap"
					  : "a cluster that is not in use is not free in the "
					    "bitmap",
				     "cluster %u", i + EXFAT_FIRST_CLUSTER);
	}
}

/* ---- the boot regions ---- */

static void exfat_audit_boot(struct exfat_audit *a)
{
	const uint8_t *backup = a->disk + (uint64_t)EXFAT_REGION * a->g.sector;

	if (ONDISK_LE(a->disk, boot, vol_flags) & FLAG_DIRTY)
		audit_breach(a->audit, "the boot sector does not say that the disk is clean",
			     "vol_flags is 0x%x", (unsigned)ONDISK_LE(a->disk, boot, vol_flags));
	/* But for the flags, and how much is in use. */
	if (memcmp(a->disk, backup, boot_vol_flags_AT) != 0 ||
	    memcmp(a->disk + boot_sect_size_bits_AT, backup + boot_sect_size_bits_AT,
		   boot_percent_in_use_AT - boot_sect_size_bits_AT) != 0)
		audit_breach(a->audit, "the backup of the boot sector differs from it",
			     "at byte %llu", (unsigned long long)(backup - a->disk));
}

void exfat_audit(struct audit *to, const uint8_t *disk, uint64_t size)
{
	struct exfat_audit a = { .audit = to, .disk = disk, .size = size };
	struct exfat_audit_dir root = { 0 };

	if (!exfat_geometry_read(&a.g, disk, size) || a.g.clusters > AUDITED_MAX)
		return;
	to->has_rules = true;
	a.used = must_alloc((a.g.clusters + EXFAT_FIRST_CLUSTER) / 8 + 1);
	exfat_audit_boot(&a);
	if (exfat_audit_find(&a)) {
		root.first = a.g.root;
		exfat_audit_clusters(&a, a.g.root, true, 0, &root);
		exfat_audit_dir_end(&a, &root);
		exfat_audit_bitmap(&a);
	}
	exfat_upcase_free(&a.upcase);
	free(a.used);
}
