/* ext_checksum.c -- the checksums of ext4 and its journal, made right after a change.
 *
 * Which ones there are, and what they begin with, says the superblock as it is now; where things
 * are, the walk has said. What a damaged count puts outside its block stays as it is: no checker
 * could find it right. */
#include <string.h>

#include "base/must.h"
#include "ondisk/crc.h"
#include "ondisk/ext.h"

enum {
	HI_DESC_LEN = 64, /* a descriptor with the high halves of its checksums */
	DX_ENTRY_LEN = 8,
	DX_ROOT_INFO = 0x18,
	DIR_TAIL_LEN = 12,
	JOURNAL_SUPER_LEN = 1024,
	XATTR_NAME_AT = 16,
	ORPHAN_TAIL_LEN = 8,
};

static const uint8_t zeros[8];

static bool ext_has_sums(const struct ondisk_sealing *s)
{
	return ONDISK_LE(s->disk + EXT_SUPER_AT, super_block, s_feature_ro_compat) &
	       EXT_RO_COMPAT_METADATA_CSUM;
}

/* What checksums begin with. */
static uint32_t ext_seed(const struct ondisk_sealing *s)
{
	const uint8_t *super = s->disk + EXT_SUPER_AT;

	if (ONDISK_LE(super, super_block, s_feature_incompat) & EXT_INCOMPAT_CSUM_SEED)
		return ONDISK_LE(super, super_block, s_checksum_seed);
	return crc32c(~0U, super + super_block_s_uuid_AT, super_block_s_uuid_LEN);
}

static uint32_t ext_sum_number(uint32_t sum, uint64_t number, size_t len)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < len; i++)
		bytes[i] = number >> (8 * i);
	return crc32c(sum, bytes, len);
}

/* What those of the blocks of an inode begin with, and its own. */
static uint32_t ext_inode_seed(const struct ondisk_sealing *s, uint64_t inode, uint32_t number)
{
	return crc32c(ext_sum_number(ext_seed(s), number, 4),
		      s->disk + inode + inode_i_generation_AT, inode_i_generation_LEN);
}

/* The sum of len bytes of which some are taken for zeros: the checksum itself. */
static uint32_t ext_sum_without(uint32_t sum, const uint8_t *p, size_t len, size_t at, size_t gap)
{
	must(at + gap <= len && gap <= sizeof(zeros));
	sum = crc32c(sum, p, at);
	sum = crc32c(sum, zeros, gap);
	return crc32c(sum, p + at + gap, len - at - gap);
}

static bool ext_is_zero(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

/* Superblock, descriptors, bitmaps */

static void ext_seal_super(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	ondisk_seal_le(s, c->of + super_block_s_checksum_AT,
		       crc32c(~0U, s->disk + c->of, super_block_s_checksum_AT),
		       super_block_s_checksum_LEN);
}

static void ext_seal_group(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const uint8_t *desc = s->disk + c->of, *super = s->disk + EXT_SUPER_AT;
	const size_t sum_at = group_desc_bg_checksum_AT,
		     behind = sum_at + group_desc_bg_checksum_LEN;
	uint8_t number[4] = { c->number, c->number >> 8, c->number >> 16, c->number >> 24 };
	uint16_t sum;

	if (ext_has_sums(s)) {
		sum = ext_sum_without(ext_sum_number(ext_seed(s), c->number, 4), desc, c->len,
				      sum_at, group_desc_bg_checksum_LEN);
	} else if (ONDISK_LE(super, super_block, s_feature_ro_compat) & EXT_RO_COMPAT_GDT_CSUM) {
		sum = crc16(0xffff, super + super_block_s_uuid_AT, super_block_s_uuid_LEN);
		sum = crc16(sum, number, sizeof(number));
		sum = crc16(sum, desc, sum_at);
		sum = crc16(sum, desc + behind, c->len - behind);
	} else {
		return;
	}
	ondisk_seal_le(s, c->of + sum_at, sum, group_desc_bg_checksum_LEN);
}

/* The two halves of a bitmap's checksum, where the descriptor says the bitmap is. */
static void ext_seal_bitmap(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	bool inodes = c->kind == EXT_SUM_INODE_BITMAP, wide = c->number >= HI_DESC_LEN;
	const uint8_t *desc = s->disk + c->of, *super = s->disk + EXT_SUPER_AT;
	uint64_t block = inodes ? ONDISK_LE(desc, group_desc, bg_inode_bitmap_lo)
				: ONDISK_LE(desc, group_desc, bg_block_bitmap_lo);
	uint32_t len = (inodes ? ONDISK_LE(super, super_block, s_inodes_per_group)
			       : ONDISK_LE(super, super_block, s_clusters_per_group)) /
		       8;
	uint32_t uninit = inodes ? EXT_BG_INODE_UNINIT : EXT_BG_BLOCK_UNINIT, sum;

	if (wide)
		block |= (inodes ? ONDISK_LE(desc, group_desc, bg_inode_bitmap_hi)
				 : ONDISK_LE(desc, group_desc, bg_block_bitmap_hi))
		      << 32;
	if (ONDISK_LE(desc, group_desc, bg_flags) & uninit || len > s->map->block_size ||
	    block >= s->map->disk_size / s->map->block_size)
		return;
	sum = crc32c(ext_seed(s), s->disk + block * s->map->block_size, len);
	ondisk_seal_le(s,
		       c->of + (inodes ? group_desc_bg_inode_bitmap_csum_lo_AT
				       : group_desc_bg_block_bitmap_csum_lo_AT),
		       sum & 0xffff, 2);
	if (wide)
		ondisk_seal_le(s,
			       c->of + (inodes ? group_desc_bg_inode_bitmap_csum_hi_AT
					       : group_desc_bg_block_bitmap_csum_hi_AT),
			       sum >> 16, 2);
}

/* Inodes and their blocks */

static void ext_seal_inode(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const uint8_t *inode = s->disk + c->of;
	const size_t lo = inode_l_i_checksum_lo_AT, hi = inode_i_checksum_hi_AT;
	bool wide = c->len > EXT_INODE_OLD_LEN &&
		    EXT_INODE_OLD_LEN + ONDISK_LE(inode, inode, i_extra_isize) >= hi + 2;
	uint32_t sum;

	if (ext_is_zero(inode, c->len))
		return; /* never written, which is right, too */
	sum = ext_inode_seed(s, c->of, c->number);
	sum = ext_sum_without(sum, inode, EXT_INODE_OLD_LEN, lo, 2);
	if (wide)
		sum = ext_sum_without(sum, inode + EXT_INODE_OLD_LEN, c->len - EXT_INODE_OLD_LEN,
				      hi - EXT_INODE_OLD_LEN, 2);
	else
		sum = crc32c(sum, inode + EXT_INODE_OLD_LEN, c->len - EXT_INODE_OLD_LEN);
	ondisk_seal_le(s, c->of + lo, sum & 0xffff, 2);
	if (wide)
		ondisk_seal_le(s, c->of + hi, sum >> 16, 2);
}

static void ext_seal_extents(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const uint8_t *node = s->disk + c->of;
	uint32_t tail = EXT_EXTENT_LEN * (1 + ONDISK_LE(node, extent_header, eh_max));

	if (tail + extent_tail_et_checksum_LEN <= s->map->block_size)
		ondisk_seal_le(s, c->of + tail,
			       crc32c(ext_inode_seed(s, c->with, c->number), node, tail),
			       extent_tail_et_checksum_LEN);
}

static void ext_seal_dir(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	uint32_t tail = s->map->block_size - DIR_TAIL_LEN;

	ondisk_seal_le(s, c->of + tail + dir_entry_tail_det_checksum_AT,
		       crc32c(ext_inode_seed(s, c->with, c->number), s->disk + c->of, tail),
		       dir_entry_tail_det_checksum_LEN);
}

static void ext_seal_dx(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const uint8_t *p = s->disk + c->of;
	bool root = ONDISK_LE(p, dir_entry, rec_len) == 12;
	uint32_t begin =
		root ? DX_ROOT_INFO + ONDISK_LE(p + DX_ROOT_INFO, dx_root_info, info_length) : 8;
	uint32_t limit = ONDISK_LE(p + begin, dx_countlimit, limit);
	uint32_t count = ONDISK_LE(p + begin, dx_countlimit, count);
	uint32_t tail = begin + limit * DX_ENTRY_LEN, sum;

	if (count > limit || tail + DX_ENTRY_LEN > s->map->block_size)
		return;
	sum = crc32c(ext_inode_seed(s, c->with, c->number), p, begin + count * DX_ENTRY_LEN);
	sum = ext_sum_without(sum, p + tail, DX_ENTRY_LEN, dx_tail_dt_checksum_AT,
			      dx_tail_dt_checksum_LEN);
	ondisk_seal_le(s, c->of + tail + dx_tail_dt_checksum_AT, sum, dx_tail_dt_checksum_LEN);
}

static void ext_seal_orphans(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	uint32_t tail = s->map->block_size - ORPHAN_TAIL_LEN, sum;

	sum = ext_sum_number(ext_inode_seed(s, c->with, c->number), c->of / s->map->block_size, 8);
	ondisk_seal_le(s, c->of + tail + orphan_block_tail_ob_checksum_AT,
		       crc32c(sum, s->disk + c->of, tail), orphan_block_tail_ob_checksum_LEN);
}

/* Attributes */

static void ext_seal_xattrs(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	uint32_t sum = ext_sum_number(ext_seed(s), c->number, 8);

	sum = ext_sum_without(sum, s->disk + c->of, s->map->block_size, xattr_header_h_checksum_AT,
			      xattr_header_h_checksum_LEN);
	ondisk_seal_le(s, c->of + xattr_header_h_checksum_AT, sum, xattr_header_h_checksum_LEN);
}

static uint32_t ext_xattr_hash(const uint8_t *name, uint32_t name_len, const uint8_t *value,
			       uint64_t len, bool is_signed)
{
	uint32_t hash = 0;

	for (uint32_t i = 0; i < name_len; i++)
		hash = hash << 5 ^ hash >> 27 ^
		       (is_signed ? (uint32_t)(int32_t)(int8_t)name[i] : name[i]);
	for (uint64_t i = 0; i < len; i += 4)
		hash = hash << 16 ^ hash >> 16 ^ (uint32_t)ondisk_le(value + i, 4);
	return hash;
}

/* A hash of name and value. Not of an attribute whose value is in an inode, on which it depends,
 * and not of a value that is said to lie before the end of its entry, where checksums are. One with
 * the bytes of the name as signed numbers is right, too (ext4_xattr_hash_entry_signed()). */
static void ext_seal_xattr_entry(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const uint8_t *e = s->disk + c->of, *name = e + XATTR_NAME_AT;
	uint32_t name_len = ONDISK_LE(e, xattr_entry, e_name_len);
	uint64_t value = c->with + ONDISK_LE(e, xattr_entry, e_value_offs);
	uint64_t len = (ONDISK_LE(e, xattr_entry, e_value_size) + 3) & ~3ULL;
	uint64_t end = c->of + XATTR_NAME_AT + name_len;

	if (ONDISK_LE(e, xattr_entry, e_value_inum) || end > c->number)
		return;
	if (len && (value < end || value > c->number || len > c->number - value))
		return;
	if (s->compares && ONDISK_LE(e, xattr_entry, e_hash) ==
				   ext_xattr_hash(name, name_len, s->disk + value, len, true))
		return;
	ondisk_seal_le(s, c->of + xattr_entry_e_hash_AT,
		       ext_xattr_hash(name, name_len, s->disk + value, len, false),
		       xattr_entry_e_hash_LEN);
}

static void ext_seal_mmp(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	ondisk_seal_le(s, c->of + mmp_struct_mmp_checksum_AT,
		       crc32c(ext_seed(s), s->disk + c->of, mmp_struct_mmp_checksum_AT),
		       mmp_struct_mmp_checksum_LEN);
}

/* The journal, whose superblock says by itself whether it has checksums */

static uint32_t ext_journal_features(const struct ondisk_sealing *s, uint64_t super)
{
	return ONDISK_BE(s->disk + super, journal_superblock, s_feature_incompat) &
	       (EXT_JOURNAL_INCOMPAT_CSUM_V2 | EXT_JOURNAL_INCOMPAT_CSUM_V3);
}

static uint32_t ext_journal_seed(const struct ondisk_sealing *s, uint64_t super)
{
	return crc32c(~0U, s->disk + super + journal_superblock_s_uuid_AT,
		      journal_superblock_s_uuid_LEN);
}

static void ext_seal_journal_super(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	const size_t at = journal_superblock_s_checksum_AT, len = journal_superblock_s_checksum_LEN;

	if (ext_journal_features(s, c->of))
		ondisk_seal_be(s, c->of + at,
			       ext_sum_without(~0U, s->disk + c->of, JOURNAL_SUPER_LEN, at, len),
			       len);
}

/* A block of the journal that has its own checksum in it, at `at`. */
static void ext_seal_journal_block(struct ondisk_sealing *s, const struct ondisk_cover *c,
				   uint32_t at)
{
	if (ext_journal_features(s, c->with))
		ondisk_seal_be(s, c->of + at,
			       ext_sum_without(ext_journal_seed(s, c->with), s->disk + c->of,
					       s->map->block_size, at, 4),
			       4);
}

static void ext_seal_journal_tag(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	uint32_t features = ext_journal_features(s, c->number);
	uint64_t descriptor = c->with - c->with % s->map->block_size;
	uint32_t sum;

	if (!features)
		return;
	sum = crc32c(ext_journal_seed(s, c->number),
		     s->disk + descriptor + journal_header_h_sequence_AT,
		     journal_header_h_sequence_LEN);
	sum = crc32c(sum, s->disk + c->of, s->map->block_size);
	if (features & EXT_JOURNAL_INCOMPAT_CSUM_V3)
		ondisk_seal_be(s, c->with + journal_block_tag3_t_checksum_AT, sum,
			       journal_block_tag3_t_checksum_LEN);
	else
		ondisk_seal_be(s, c->with + journal_block_tag_t_checksum_AT, sum & 0xffff,
			       journal_block_tag_t_checksum_LEN);
}

static void ext_seal_with_seed(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	static void (*const seals[])(struct ondisk_sealing *, const struct ondisk_cover *) = {
		[EXT_SUM_SUPER] = ext_seal_super,
		[EXT_SUM_BLOCK_BITMAP] = ext_seal_bitmap,
		[EXT_SUM_INODE_BITMAP] = ext_seal_bitmap,
		[EXT_SUM_INODE] = ext_seal_inode,
		[EXT_SUM_EXTENTS] = ext_seal_extents,
		[EXT_SUM_DIR] = ext_seal_dir,
		[EXT_SUM_DX] = ext_seal_dx,
		[EXT_SUM_ORPHANS] = ext_seal_orphans,
		[EXT_SUM_XATTRS] = ext_seal_xattrs,
		[EXT_SUM_MMP] = ext_seal_mmp,
	};

	must(c->kind < ARRAY_LEN(seals) && seals[c->kind]);
	if (ext_has_sums(s))
		seals[c->kind](s, c);
}

void ext_seal(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	switch (c->kind) {
	case EXT_SUM_GROUP:
		ext_seal_group(s, c);
		break;
	case EXT_SUM_XATTR_ENTRY:
		ext_seal_xattr_entry(s, c);
		break;
	case EXT_SUM_JOURNAL_SUPER:
		ext_seal_journal_super(s, c);
		break;
	case EXT_SUM_JOURNAL_BLOCK:
		ext_seal_journal_block(s, c,
				       s->map->block_size - journal_block_tail_t_checksum_LEN);
		break;
	case EXT_SUM_JOURNAL_COMMIT:
		ext_seal_journal_block(s, c, commit_header_h_chksum_0_AT);
		break;
	case EXT_SUM_JOURNAL_TAG:
		ext_seal_journal_tag(s, c);
		break;
	default:
		ext_seal_with_seed(s, c);
	}
}
