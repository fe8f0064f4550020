/* f2fs.c -- where the structures of F2FS lie: superblocks and packs of checkpoints. The tables are
 * in f2fs_segment.c, nodes in f2fs_node.c.
 *
 * Checksums are CRC-32, from the magic number on: of a checkpoint, and, where features ask for it,
 * of a superblock and of inodes. That of an inode begins with the UUID in the superblock, the
 * number of the inode and its generation. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/crc.h"
#include "ondisk/f2fs.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	F2FS_SUPER_AT = 1024, /* in each of the first two blocks */
	F2FS_SUPER_SIZE = 3072,
	F2FS_CP_SIZE = 192, /* before the bitmaps */
	F2FS_UUID = 16,
	F2FS_ORPHANS = 1020, /* in a block */
	F2FS_NAT_BLOCKS_MAX = 1 << 20,
};

#define F2FS_MAGIC 0xf2f52010U

bool f2fs_bit(const uint8_t *bitmap, uint32_t size, uint32_t bit)
{
	return bit / 8 < size && bitmap[bit / 8] >> (7 - bit % 8) & 1;
}

static bool f2fs_recognises(const uint8_t *disk, uint64_t size)
{
	return size >= 2ULL * F2FS_BLOCK &&
	       ONDISK_LE(disk + F2FS_SUPER_AT, super, magic) == F2FS_MAGIC;
}

/* ---- superblocks ---- */

static void f2fs_read_super(struct f2fs_disk *x, const uint8_t *p)
{
	uint64_t blocks = x->walk.map->disk_size / F2FS_BLOCK;

	x->features = ONDISK_LE(p, super, feature);
	x->cp_payload = ONDISK_LE(p, super, cp_payload);
	x->cp = ONDISK_LE(p, super, cp_blkaddr);
	x->sit = ONDISK_LE(p, super, sit_blkaddr);
	x->nat = ONDISK_LE(p, super, nat_blkaddr);
	x->ssa = ONDISK_LE(p, super, ssa_blkaddr);
	x->main = ONDISK_LE(p, super, main_blkaddr);
	x->root = ONDISK_LE(p, super, root_ino);
	x->main_segments = ONDISK_LE(p, super, segment_count_main);
	/* Each table has two copies. */
	x->sit_blocks = (uint32_t)ONDISK_LE(p, super, segment_count_sit) / 2 * F2FS_SEGMENT;
	x->nat_blocks = (uint32_t)ONDISK_LE(p, super, segment_count_nat) / 2 * F2FS_SEGMENT;
	if (ONDISK_LE(p, super, log_blocksize) != 12 ||
	    ONDISK_LE(p, super, log_blocks_per_seg) != 9)
		walk_fail(&x->walk, "only blocks of 4 KiB and segments of 2 MiB are described");
	else if (x->main_segments > blocks / F2FS_SEGMENT || x->nat_blocks > F2FS_NAT_BLOCKS_MAX ||
		 x->sit_blocks > blocks || x->cp_payload > F2FS_SEGMENT)
		walk_fail(&x->walk, "%u segments do not fit", x->main_segments);
}

static void f2fs_walk_super(struct f2fs_disk *x, uint64_t at, const char *label)
{
	struct ondisk_cover cover = { .at = at, .len = super_crc_AT, .kind = F2FS_SUPER, .of = at };

	if (!walk_add(&x->walk, &f2fs_def_super, at, F2FS_SUPER_SIZE, "%s", label))
		return;
	if (x->features & F2FS_FEATURE_SB_CHECKSUM)
		ondisk_cover(x->walk.map, cover);
}

static void f2fs_walk_supers(struct f2fs_disk *x)
{
	f2fs_walk_super(x, F2FS_SUPER_AT, "superblock");
	f2fs_walk_super(x, F2FS_BLOCK + F2FS_SUPER_AT, "copy of the superblock");
	if (x->features & F2FS_FEATURE_INODE_CHECKSUM)
		ondisk_cover(x->walk.map,
			     (struct ondisk_cover){ .at = F2FS_SUPER_AT + super_uuid_AT,
						    .len = F2FS_UUID,
						    .kind = ONDISK_ALL });
}

/* ---- packs ---- */

/* At most at the end of a block. */
static uint32_t f2fs_cp_checksum_at(const uint8_t *cp)
{
	uint64_t at = ONDISK_LE(cp, cp, checksum_offset);

	return at >= F2FS_CP_SIZE && at <= F2FS_BLOCK - 4 ? (uint32_t)at : F2FS_BLOCK - 4;
}

static uint32_t f2fs_cp_crc(const uint8_t *cp)
{
	uint32_t at = f2fs_cp_checksum_at(cp), crc = crc32_le(F2FS_MAGIC, cp, at);

	return crc32_le(crc, cp + at + 4, F2FS_BLOCK - at - 4);
}

static bool f2fs_cp_is_right(const uint8_t *cp)
{
	return ondisk_le(cp + f2fs_cp_checksum_at(cp), 4) == f2fs_cp_crc(cp);
}

/* Where the bitmaps are: two, one behind the other, or one in the block behind the checkpoint. */
static void f2fs_find_bitmaps(const struct f2fs_disk *x, struct f2fs_pack *k, const uint8_t *cp)
{
	uint32_t nat = ONDISK_LE(cp, cp, nat_ver_bitmap_bytesize);
	uint32_t sit = ONDISK_LE(cp, cp, sit_ver_bitmap_bytesize);
	const uint8_t *both = cp + F2FS_CP_SIZE;

	if (k->flags & F2FS_CP_LARGE_NAT) {
		k->nat_bitmap = both + 4;
		k->sit_bitmap = k->nat_bitmap + nat;
	} else if (x->cp_payload) {
		k->nat_bitmap = both;
		k->sit_bitmap = cp + F2FS_BLOCK;
	} else {
		k->sit_bitmap = both;
		k->nat_bitmap = both + sit;
	}
	k->nat_bitmap_size = nat;
	k->sit_bitmap_size = sit;
}

static bool f2fs_read_pack(struct f2fs_disk *x, uint32_t block, struct f2fs_pack *ret)
{
	const uint8_t *p = walk_read(&x->walk, (uint64_t)block * F2FS_BLOCK,
				     (uint64_t)F2FS_SEGMENT * F2FS_BLOCK, "pack");
	struct f2fs_pack k = { .block = block, .cp = p };
	const uint8_t *last;

	if (!p)
		return false;
	k.version = ONDISK_LE(p, cp, checkpoint_ver);
	k.flags = ONDISK_LE(p, cp, ckpt_flags);
	k.blocks = ONDISK_LE(p, cp, cp_pack_total_block_count);
	k.start_sum = ONDISK_LE(p, cp, cp_pack_start_sum);
	if (k.blocks < 3 || k.blocks > F2FS_SEGMENT || k.start_sum >= k.blocks)
		return false;
	last = p + (k.blocks - 1ULL) * F2FS_BLOCK;
	if (!f2fs_cp_is_right(p) || !f2fs_cp_is_right(last) ||
	    ONDISK_LE(last, cp, checkpoint_ver) != k.version)
		return false;
	f2fs_find_bitmaps(x, &k, p);
	if (k.nat_bitmap_size > F2FS_BLOCK - F2FS_CP_SIZE ||
	    k.sit_bitmap_size > (k.blocks - 1) * F2FS_BLOCK)
		return false;
	*ret = k;
	return true;
}

static void f2fs_add_cp(struct f2fs_disk *x, uint64_t at, unsigned pack, const char *which)
{
	const uint8_t *p =
		walk_add(&x->walk, &f2fs_def_cp, at, F2FS_CP_SIZE, "pack %u, %s", pack, which);

	if (!p)
		return;
	walk_add(&x->walk, &f2fs_def_cp_checksum, at + f2fs_cp_checksum_at(p), 4, "pack %u, %s",
		 pack, which);
	ondisk_cover(x->walk.map, (struct ondisk_cover){
					  .at = at, .len = F2FS_BLOCK, .kind = F2FS_CP, .of = at });
}

static void f2fs_walk_orphans(struct f2fs_disk *x, const struct f2fs_pack *k, unsigned pack)
{
	for (uint32_t i = 1 + x->cp_payload; i < k->start_sum && !x->walk.status; i++) {
		uint64_t at = ((uint64_t)k->block + i) * F2FS_BLOCK;
		const uint8_t *p = walk_add(&x->walk, &f2fs_def_orphan_block, at, F2FS_BLOCK,
					    "pack %u, orphans", pack);
		uint64_t count = p ? ONDISK_LE(p, orphan_block, entry_count) : 0;

		for (uint64_t o = 0; o < count && o < F2FS_ORPHANS && !x->walk.status; o++)
			walk_add(&x->walk, &f2fs_def_orphan, at + o * 4, 4, "pack %u, orphan %llu",
				 pack, (unsigned long long)o);
	}
}

static void f2fs_walk_pack(struct f2fs_disk *x, const struct f2fs_pack *k, unsigned pack)
{
	uint64_t at = (uint64_t)k->block * F2FS_BLOCK;

	f2fs_add_cp(x, at, pack, "first");
	f2fs_add_cp(x, at + (k->blocks - 1ULL) * F2FS_BLOCK, pack, "last");
	if (k->nat_bitmap_size)
		walk_add(&x->walk, &f2fs_def_nat_bitmap, (uint64_t)(k->nat_bitmap - x->walk.disk),
			 k->nat_bitmap_size, "pack %u", pack);
	if (k->sit_bitmap_size)
		walk_add(&x->walk, &f2fs_def_sit_bitmap, (uint64_t)(k->sit_bitmap - x->walk.disk),
			 k->sit_bitmap_size, "pack %u", pack);
	if (k->flags & F2FS_CP_ORPHANS)
		f2fs_walk_orphans(x, k, pack);
}

/* The one with the higher version counts. */
static void f2fs_walk_packs(struct f2fs_disk *x)
{
	bool found = false;

	for (unsigned i = 0; i < 2 && !x->walk.status; i++) {
		struct f2fs_pack k;

		if (!f2fs_read_pack(x, x->cp + i * F2FS_SEGMENT, &k))
			continue;
		f2fs_walk_pack(x, &k, i + 1);
		if (!found || k.version > x->pack.version)
			x->pack = k;
		found = true;
	}
	if (!found)
		walk_fail(&x->walk, "there is no checkpoint");
}

/* ---- the format ---- */

static int f2fs_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct f2fs_disk x = { .walk = { .map = m, .disk = disk, .err = err } };

	f2fs_read_super(&x, disk + F2FS_SUPER_AT);
	f2fs_walk_supers(&x);
	f2fs_walk_packs(&x);
	if (!x.walk.status) {
		m->block_size = F2FS_BLOCK;
		f2fs_walk_nat(&x);
		f2fs_walk_sit(&x);
		f2fs_walk_nodes(&x);
	}
	walk_apply_names(&x.walk, "inode ", x.root);
	return x.walk.status;
}

static uint32_t f2fs_inode_crc(const uint8_t *disk, const uint8_t *inode)
{
	static const uint8_t zero[4];
	const uint8_t *number = inode + F2FS_BLOCK - 24 + footer_ino_AT;
	uint32_t at = inode_extra_i_inode_checksum_AT;
	uint32_t crc = crc32_le(UINT32_MAX, disk + F2FS_SUPER_AT + super_uuid_AT, F2FS_UUID);

	crc = crc32_le(crc, number, 4);
	crc = crc32_le(crc, inode + inode_i_generation_AT, 4);
	crc = crc32_le(crc, inode, at);
	crc = crc32_le(crc, zero, sizeof(zero));
	return crc32_le(crc, inode + at + 4, F2FS_BLOCK - at - 4);
}

static void f2fs_seal(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const uint8_t *p = s->disk + c->of;

	switch (c->kind) {
	case F2FS_SUPER:
		ondisk_seal_le(s, c->of + super_crc_AT, crc32_le(F2FS_MAGIC, p, super_crc_AT), 4);
		break;
	case F2FS_CP:
		ondisk_seal_le(s, c->of + f2fs_cp_checksum_at(p), f2fs_cp_crc(p), 4);
		break;
	case F2FS_INODE:
		ondisk_seal_le(s, c->of + inode_extra_i_inode_checksum_AT,
			       f2fs_inode_crc(s->disk, p), 4);
		break;
	default:
		must(false);
	}
}

const struct ondisk_format ondisk_f2fs = {
	.name = "f2fs",
	.structures = f2fs_def_structures,
	.structure_count = ARRAY_LEN(f2fs_def_structures),
	.recognises = f2fs_recognises,
	.walk = f2fs_walk,
	.seal = f2fs_seal,
};
