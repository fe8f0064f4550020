/* xfs.c -- where the structures of XFS lie: superblocks, headers and trees of allocation groups,
 * the log. Version 5 only, the one with checksums.
 *
 * A checksum is the CRC-32C of the whole buffer that it lies in, taken with itself as zero. That of
 * a log record depends on its data, too. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/crc.h"
#include "ondisk/xfs.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	XFS_SUPER_SIZE = 0x108,
	XFS_AGF_SIZE = 0xe0,
	XFS_AGI_SIZE = 0x158,
	XFS_AGFL_SIZE = 36,
	XFS_UNLINKED = 64,
	XFS_CHUNK = 64,         /* inodes */
	XFS_LOG_HEADER = 0x148, /* as far as it is summed up */
	XFS_LOG_SECTOR = 512,
	XFS_LOG_HEADER_COVERS = 32 << 10, /* bytes of data; more of them have more headers */
};

#define XFS_SUPER_MAGIC 0x58465342 /* XFSB */
#define XFS_LOG_MAGIC 0xfeedbabe

/* XFS_BUFFER: of the checksum. XFS_RECORD: of the header, with the bytes behind it. */
enum xfs_checksum { XFS_BUFFER = 1, XFS_RECORD };

/* A tree of an allocation group. */
struct xfs_tree {
	const char *name;
	const struct ondisk_structure *record, *key;
	unsigned record_size, key_size;
	unsigned keys; /* of a pointer: with overlapping records, the lowest and the highest */
	bool has_inodes;
};

static const struct xfs_tree xfs_bnobt = { "bnobt", &xfs_def_alloc_rec, &xfs_def_alloc_rec, 8, 8, 1,
					   false };
static const struct xfs_tree xfs_cntbt = { "cntbt", &xfs_def_alloc_rec, &xfs_def_alloc_rec, 8, 8, 1,
					   false };
static const struct xfs_tree xfs_rmapbt = {
	"rmapbt", &xfs_def_rmap_rec, &xfs_def_rmap_key, 24, 20, 2, false
};
static const struct xfs_tree xfs_refcountbt = {
	"refcountbt", &xfs_def_refcount_rec, &xfs_def_refcount_key, 12, 4, 1, false
};
static const struct xfs_tree xfs_inobt = {
	"inobt", &xfs_def_inobt_rec, &xfs_def_inobt_key, 16, 4, 1, true
};
static const struct xfs_tree xfs_finobt = {
	"finobt", &xfs_def_inobt_rec, &xfs_def_inobt_key, 16, 4, 1, false
};

uint64_t xfs_block_at(const struct xfs_disk *x, uint64_t block)
{
	uint64_t group = block >> x->ag_log, within = block & ((1ULL << x->ag_log) - 1);

	/* No disk has it, and the product would be another number. */
	if (group >= x->ag_count)
		return UINT64_MAX;
	return (group * x->ag_blocks + within) * x->block;
}

void xfs_cover(struct xfs_disk *x, uint64_t at, uint32_t len, uint32_t crc)
{
	if (walk_read(&x->walk, at, len, "buffer"))
		ondisk_cover(x->walk.map,
			     (struct ondisk_cover){
				     .at = at, .len = len, .kind = XFS_BUFFER, .of = at + crc });
}

/* ---- the superblock ---- */

static bool xfs_recognises(const uint8_t *disk, uint64_t size)
{
	return size >= XFS_SUPER_SIZE && ONDISK_BE(disk, sb, sb_magicnum) == XFS_SUPER_MAGIC;
}

static void xfs_check_super(struct xfs_disk *x, const uint8_t *p)
{
	unsigned block_log = ONDISK_BE(p, sb, sb_blocklog);
	uint64_t blocks = x->walk.map->disk_size / (x->block ? x->block : 1);

	if ((ONDISK_BE(p, sb, sb_versionnum) & 0xf) != 5 || !x->has_ftype)
		walk_fail(&x->walk, "only version 5 of XFS is described");
	else if (block_log < 9 || block_log > 16 || x->block != 1U << block_log)
		walk_fail(&x->walk, "blocks of %u bytes", x->block);
	else if (x->sector < 512 || x->sector > x->block)
		walk_fail(&x->walk, "sectors of %u bytes", x->sector);
	else if (x->inode_size < 256 || x->inode_size << x->inodes_log != x->block)
		walk_fail(&x->walk, "inodes of %u bytes", x->inode_size);
	else if (!x->ag_blocks || !x->ag_count || x->ag_log > 31 ||
		 x->ag_blocks > 1ULL << x->ag_log || x->ag_blocks > blocks)
		walk_fail(&x->walk, "allocation groups of %u blocks", x->ag_blocks);
	else if (x->dir_block > 64 << 10)
		walk_fail(&x->walk, "directory blocks of %u bytes", x->dir_block);
}

static void xfs_read_super(struct xfs_disk *x, const uint8_t *p)
{
	uint64_t compat = ONDISK_BE(p, sb, sb_features_ro_compat);
	unsigned dir_log = ONDISK_BE(p, sb, sb_dirblklog);

	x->block = ONDISK_BE(p, sb, sb_blocksize);
	x->sector = ONDISK_BE(p, sb, sb_sectsize);
	x->inode_size = ONDISK_BE(p, sb, sb_inodesize);
	x->inodes_log = ONDISK_BE(p, sb, sb_inopblog) & 15;
	x->dir_block = dir_log < 8 ? x->block << dir_log : UINT32_MAX;
	x->ag_blocks = ONDISK_BE(p, sb, sb_agblocks);
	x->ag_count = ONDISK_BE(p, sb, sb_agcount);
	x->ag_log = ONDISK_BE(p, sb, sb_agblklog);
	x->root = ONDISK_BE(p, sb, sb_rootino);
	x->log = ONDISK_BE(p, sb, sb_logstart);
	x->log_blocks = ONDISK_BE(p, sb, sb_logblocks);
	x->has_finobt = compat & 1;
	x->has_rmap = compat & 2;
	x->has_refcount = compat & 4;
	x->has_ftype = ONDISK_BE(p, sb, sb_features_incompat) & 1;
	xfs_check_super(x, p);
}

/* ---- trees of an allocation group ---- */

static uint64_t xfs_group_at(const struct xfs_disk *x, uint32_t group)
{
	return (uint64_t)group * x->ag_blocks * x->block;
}

/* Inodes that are in use, and the first one that is not; the checksums of all. */
static void xfs_walk_chunk(struct xfs_disk *x, uint32_t group, const uint8_t *record)
{
	uint64_t free = ONDISK_BE(record, inobt_rec, ir_free);
	uint64_t holes = ONDISK_BE(record, inobt_rec, ir_holemask);
	uint64_t first = ONDISK_BE(record, inobt_rec, ir_startino);
	bool free_met = false;

	for (unsigned i = 0; i < XFS_CHUNK && !x->walk.status; i++) {
		uint64_t in_group = first + i;
		uint64_t number = (uint64_t)group << (x->ag_log + x->inodes_log) | in_group;
		uint64_t at = xfs_group_at(x, group) + (in_group >> x->inodes_log) * x->block +
			      (in_group & ((1U << x->inodes_log) - 1)) * x->inode_size;

		if (holes >> i / 4 & 1)
			continue;
		if (!(free >> i & 1)) {
			xfs_walk_inode(x, number, at);
		} else if (!free_met) {
			free_met = true;
			walk_add(&x->walk, &xfs_def_dinode, at, XFS_INODE_CORE,
				 "inode %llu, unused", (unsigned long long)number);
		}
		xfs_cover(x, at, x->inode_size, dinode_di_crc_AT);
	}
}

static void xfs_walk_records(struct xfs_disk *x, const struct xfs_tree *t, uint32_t group,
			     uint64_t at, uint32_t count)
{
	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p =
			walk_add(&x->walk, t->record, at + i * t->record_size, t->record_size,
				 "group %u, %s, record %u", group, t->name, i);

		if (p && t->has_inodes)
			xfs_walk_chunk(x, group, p);
	}
}

static void xfs_walk_tree(struct xfs_disk *x, const struct xfs_tree *t, uint32_t group,
			  uint32_t block, unsigned level);

static void xfs_walk_node(struct xfs_disk *x, const struct xfs_tree *t, uint32_t group, uint64_t at,
			  uint32_t count, unsigned level)
{
	uint32_t key_size = t->key_size * t->keys;
	uint64_t pointers = at + (x->block - XFS_BTREE_SHORT) / (key_size + 4) * (uint64_t)key_size;

	for (uint32_t i = 0; i < count * t->keys && !x->walk.status; i++)
		walk_add(&x->walk, t->key, at + i * t->key_size, t->key_size,
			 "group %u, %s, level %u, key %u", group, t->name, level, i);
	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p =
			walk_add(&x->walk, &xfs_def_btree_ptr, pointers + i * 4, 4,
				 "group %u, %s, level %u, pointer %u", group, t->name, level, i);

		if (p)
			xfs_walk_tree(x, t, group, ONDISK_BE(p, btree_ptr, ptr), level - 1);
	}
}

static void xfs_walk_tree(struct xfs_disk *x, const struct xfs_tree *t, uint32_t group,
			  uint32_t block, unsigned level)
{
	uint64_t at = xfs_group_at(x, group) + (uint64_t)block * x->block;
	uint32_t record = level ? t->key_size * t->keys + 4 : t->record_size, count;
	const uint8_t *p;

	if (!walk_set_add(&x->walk, &x->met, at / x->block, "block"))
		return;
	p = walk_add(&x->walk, &xfs_def_btree_short, at, XFS_BTREE_SHORT, "group %u, %s, block %u",
		     group, t->name, block);
	if (!p)
		return;
	xfs_cover(x, at, x->block, btree_short_bb_crc_AT);
	count = ONDISK_BE(p, btree_short, bb_numrecs);
	if (ONDISK_BE(p, btree_short, bb_level) != level ||
	    count > (x->block - XFS_BTREE_SHORT) / record)
		walk_fail(&x->walk, "block %u of %s has %u records", block, t->name, count);
	else if (level)
		xfs_walk_node(x, t, group, at + XFS_BTREE_SHORT, count, level);
	else
		xfs_walk_records(x, t, group, at + XFS_BTREE_SHORT, count);
}

static void xfs_walk_root(struct xfs_disk *x, const struct xfs_tree *t, uint32_t group,
			  uint64_t block, uint64_t levels)
{
	if (levels < 1 || levels > XFS_LEVELS_MAX)
		walk_fail(&x->walk, "%s has %llu levels", t->name, (unsigned long long)levels);
	else
		xfs_walk_tree(x, t, group, block, levels - 1);
}

/* ---- headers of an allocation group ---- */

static void xfs_walk_free_list(struct xfs_disk *x, uint32_t group, const uint8_t *agf)
{
	uint64_t at = xfs_group_at(x, group) + 3ULL * x->sector;
	uint32_t size = (x->sector - XFS_AGFL_SIZE) / 4, first = ONDISK_BE(agf, agf, agf_flfirst);
	uint32_t count = ONDISK_BE(agf, agf, agf_flcount);

	walk_add(&x->walk, &xfs_def_agfl, at, XFS_AGFL_SIZE, "group %u", group);
	xfs_cover(x, at, x->sector, agfl_agfl_crc_AT);
	if (first >= size || count > size)
		walk_fail(&x->walk, "the free list of group %u has %u entries from %u on", group,
			  count, first);
	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		uint32_t place = (first + i) % size;

		walk_add(&x->walk, &xfs_def_agfl_bno, at + XFS_AGFL_SIZE + place * 4, 4,
			 "group %u, free list[%u]", group, place);
	}
}

static void xfs_walk_free_space(struct xfs_disk *x, uint32_t group)
{
	uint64_t at = xfs_group_at(x, group) + x->sector;
	const uint8_t *p = walk_add(&x->walk, &xfs_def_agf, at, XFS_AGF_SIZE, "group %u", group);

	if (!p)
		return;
	xfs_cover(x, at, x->sector, agf_agf_crc_AT);
	xfs_walk_free_list(x, group, p);
	xfs_walk_root(x, &xfs_bnobt, group, ONDISK_BE(p, agf, agf_roots_0),
		      ONDISK_BE(p, agf, agf_levels_0));
	xfs_walk_root(x, &xfs_cntbt, group, ONDISK_BE(p, agf, agf_roots_1),
		      ONDISK_BE(p, agf, agf_levels_1));
	if (x->has_rmap)
		xfs_walk_root(x, &xfs_rmapbt, group, ONDISK_BE(p, agf, agf_roots_2),
			      ONDISK_BE(p, agf, agf_levels_2));
	if (x->has_refcount)
		xfs_walk_root(x, &xfs_refcountbt, group, ONDISK_BE(p, agf, agf_refcount_root),
			      ONDISK_BE(p, agf, agf_refcount_level));
}

static void xfs_walk_unlinked(struct xfs_disk *x, uint32_t group, uint64_t at)
{
	const uint8_t *p = walk_read(&x->walk, at, XFS_UNLINKED * 4, "unlinked inodes");

	for (unsigned i = 0; p && i < XFS_UNLINKED; i++)
		if (i == 0 || i == XFS_UNLINKED - 1 || ondisk_be(p + i * 4, 4) != UINT32_MAX)
			walk_add(&x->walk, &xfs_def_agi_unlinked, at + i * 4, 4,
				 "group %u, unlinked inodes[%u]", group, i);
}

static void xfs_walk_group_inodes(struct xfs_disk *x, uint32_t group)
{
	uint64_t at = xfs_group_at(x, group) + 2ULL * x->sector;
	const uint8_t *p = walk_add(&x->walk, &xfs_def_agi, at, XFS_AGI_SIZE, "group %u", group);

	if (!p)
		return;
	xfs_cover(x, at, x->sector, agi_agi_crc_AT);
	xfs_walk_unlinked(x, group, at + agi_agi_newino_AT + 8);
	xfs_walk_root(x, &xfs_inobt, group, ONDISK_BE(p, agi, agi_root),
		      ONDISK_BE(p, agi, agi_level));
	if (x->has_finobt)
		xfs_walk_root(x, &xfs_finobt, group, ONDISK_BE(p, agi, agi_free_root),
			      ONDISK_BE(p, agi, agi_free_level));
}

static void xfs_walk_group(struct xfs_disk *x, uint32_t group)
{
	uint64_t at = xfs_group_at(x, group);

	walk_add(&x->walk, &xfs_def_sb, at, XFS_SUPER_SIZE, "group %u%s", group,
		 group ? ", backup" : "");
	xfs_cover(x, at, x->sector, sb_sb_crc_AT);
	xfs_walk_free_space(x, group);
	xfs_walk_group_inodes(x, group);
}

/* ---- the log ---- */

/* Bytes of the headers of a record, as its size is written. */
static uint64_t xfs_log_headers(const uint8_t *header)
{
	uint64_t size = ONDISK_BE(header, rec_header, h_size);

	return (size > XFS_LOG_HEADER_COVERS && size <= 1 << 20
			? (size + XFS_LOG_HEADER_COVERS - 1) / XFS_LOG_HEADER_COVERS
			: 1) *
	       XFS_LOG_SECTOR;
}

/* Of a record whose data is not more than one header covers. */
static uint32_t xfs_log_crc(const uint8_t *header, const uint8_t *data, uint64_t len)
{
	static const uint8_t zero[4];
	uint32_t crc = crc32c(UINT32_MAX, header, rec_header_h_crc_AT);

	crc = crc32c(crc, zero, sizeof(zero));
	crc = crc32c(crc, header + rec_header_h_crc_AT + 4,
		     XFS_LOG_HEADER - rec_header_h_crc_AT - 4);
	return ~crc32c(crc, data, len);
}

/* What mkfs writes has no checksum; what was partly overwritten, a wrong one. */
static void xfs_cover_record(struct xfs_disk *x, uint64_t at, uint64_t end)
{
	const uint8_t *p = walk_read(&x->walk, at, XFS_LOG_SECTOR, "log record");
	uint64_t len = p ? ONDISK_BE(p, rec_header, h_len) : 0, data_at;
	struct ondisk_cover cover;

	if (!p)
		return;
	data_at = at + xfs_log_headers(p);
	if (len > XFS_LOG_HEADER_COVERS || data_at + len > end ||
	    ondisk_le(p + rec_header_h_crc_AT, 4) != xfs_log_crc(p, x->walk.disk + data_at, len))
		return;
	cover = (struct ondisk_cover){
		.at = at, .len = XFS_LOG_HEADER, .kind = XFS_RECORD, .of = at, .with = len
	};
	ondisk_cover(x->walk.map, cover);
	cover.at = data_at;
	cover.len = len;
	if (len)
		ondisk_cover(x->walk.map, cover);
}

/* All records, and the first of those that only fill the log: they have no data. */
static void xfs_walk_log(struct xfs_disk *x)
{
	uint64_t at = xfs_block_at(x, x->log), len = x->log_blocks * x->block;
	bool empty_met = false;

	/* On another device. */
	if (!x->log || !walk_read(&x->walk, at, len, "log"))
		return;
	for (uint64_t i = 0; i < len && !x->walk.status; i += XFS_LOG_SECTOR) {
		const uint8_t *p = x->walk.disk + at + i;
		bool empty = !ONDISK_BE(p, rec_header, h_len);

		if (ONDISK_BE(p, rec_header, h_magicno) != XFS_LOG_MAGIC || (empty && empty_met))
			continue;
		empty_met |= empty;
		walk_add(&x->walk, &xfs_def_rec_header, at + i, XFS_LOG_HEADER, "log, sector %llu",
			 (unsigned long long)i / XFS_LOG_SECTOR);
		xfs_cover_record(x, at + i, at + len);
	}
}

/* ---- the format ---- */

static int xfs_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct xfs_disk x = { .walk = { .map = m, .disk = disk, .err = err } };

	xfs_read_super(&x, disk);
	if (x.walk.status)
		return x.walk.status;
	m->block_size = x.block;
	walk_set_make(&x.walk, &x.met, m->disk_size / x.block + 1, "blocks");
	for (uint32_t i = 0; i < x.ag_count && !x.walk.status; i++)
		xfs_walk_group(&x, i);
	xfs_walk_log(&x);
	walk_apply_names(&x.walk, "inode ", x.root);
	walk_set_free(&x.met);
	return x.walk.status;
}

static void xfs_seal(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	static const uint8_t zero[4];
	uint32_t crc = UINT32_MAX;

	if (c->kind == XFS_RECORD) {
		const uint8_t *header = s->disk + c->of;
		uint64_t data_at = c->of + xfs_log_headers(header);

		if (data_at <= s->map->disk_size && c->with <= s->map->disk_size - data_at)
			ondisk_seal_le(s, c->of + rec_header_h_crc_AT,
				       xfs_log_crc(header, s->disk + data_at, c->with), 4);
		return;
	}
	crc = crc32c(crc, s->disk + c->at, c->of - c->at);
	crc = crc32c(crc, zero, sizeof(zero));
	crc = crc32c(crc, s->disk + c->of + 4, c->at + c->len - c->of - 4);
	ondisk_seal_le(s, c->of, ~crc & UINT32_MAX, 4);
}

const struct ondisk_format ondisk_xfs = {
	.name = "xfs",
	.structures = xfs_def_structures,
	.structure_count = ARRAY_LEN(xfs_def_structures),
	.recognises = xfs_recognises,
	.walk = xfs_walk,
	.seal = xfs_seal,
};
