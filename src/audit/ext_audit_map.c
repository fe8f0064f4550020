/* ext_audit_map.c -- the rules of extents and of block pointers. */
#include "audit/ext_audit.h"

enum {
	EXTENT_DEPTH_MAX = 5,
	EXTENT_LEN_WRITTEN_MAX = 32768, /* a greater length: that much is unwritten */
	DIRECT_POINTERS = 12,
};

static const char *const out_of_order = "extents are not in order, or overlap";

static void ext_audit_mapped(struct ext_audit_map *m, uint64_t logical, uint64_t physical,
			     uint64_t len, bool written)
{
	for (uint64_t i = 0; i < len; i++)
		if (!ext_audit_use(m->a, physical + i, "data", m->f->number))
			break;
	m->blocks += len;
	m->last = (int64_t)(logical + len) - 1;
	if (written)
		m->last_written = m->last;
	m->unwritten |= !written;
}

/* Extents */

static void ext_audit_extent(struct ext_audit_map *m, const uint8_t *e)
{
	uint64_t logical = ONDISK_LE(e, extent, ee_block), len = ONDISK_LE(e, extent, ee_len);
	uint64_t start = ONDISK_LE(e, extent, ee_start_lo) | ONDISK_LE(e, extent, ee_start_hi)
								     << 32;
	bool written = len <= EXTENT_LEN_WRITTEN_MAX;

	len -= written ? 0 : EXTENT_LEN_WRITTEN_MAX;
	if (!len)
		audit_breach(m->a->audit, "an extent has no length", "inode %u, block %llu",
			     m->f->number, (unsigned long long)logical);
	if (logical < m->next || logical + len > UINT32_MAX)
		audit_breach(m->a->audit, out_of_order, "inode %u: %llu blocks at %llu, after %llu",
			     m->f->number, (unsigned long long)len, (unsigned long long)logical,
			     (unsigned long long)m->next);
	m->next = logical + len;
	ext_audit_mapped(m, logical, start, len, written);
}

static void ext_audit_extents(struct ext_audit_map *m, uint64_t at, uint32_t len, uint32_t depth);

/* The first block of what is below must be what the index says (ext4_valid_extent_entries()). */
static void ext_audit_index(struct ext_audit_map *m, const uint8_t *e, uint32_t depth)
{
	uint64_t block = ONDISK_LE(e, extent_idx, ei_leaf_lo) | ONDISK_LE(e, extent_idx, ei_leaf_hi)
									<< 32;
	uint64_t at = block * m->a->w.block_size;

	if (!ext_audit_use(m->a, block, "a node of extents", m->f->number))
		return;
	m->blocks++;
	if (ONDISK_LE(m->a->w.disk + at, extent_header, eh_entries) &&
	    ondisk_le(m->a->w.disk + at + EXT_EXTENT_LEN, 4) != ONDISK_LE(e, extent_idx, ei_block))
		audit_breach(m->a->audit, "an index of extents begins elsewhere than its node",
			     "inode %u, node %llu", m->f->number, (unsigned long long)block);
	ext_audit_extents(m, at, m->a->w.block_size, depth);
}

static void ext_audit_extents(struct ext_audit_map *m, uint64_t at, uint32_t len, uint32_t depth)
{
	const uint8_t *node = m->a->w.disk + at;
	uint32_t entries = ONDISK_LE(node, extent_header, eh_entries);
	uint32_t max = ONDISK_LE(node, extent_header, eh_max);

	if (ONDISK_LE(node, extent_header, eh_magic) != EXT_EXTENT_MAGIC || entries > max || !max ||
	    (max + 1) * EXT_EXTENT_LEN > len || ONDISK_LE(node, extent_header, eh_depth) != depth ||
	    (depth && !entries)) {
		audit_breach(m->a->audit, "the header of a node of extents cannot be",
			     "inode %u: %u entries of %u", m->f->number, entries, max);
		return;
	}
	for (uint32_t i = 1; i <= entries; i++) {
		if (depth)
			ext_audit_index(m, node + (uint64_t)i * EXT_EXTENT_LEN, depth - 1);
		else
			ext_audit_extent(m, node + (uint64_t)i * EXT_EXTENT_LEN);
	}
}

/* Block pointers */

static void ext_audit_pointer(struct ext_audit_map *m, uint64_t block, unsigned level,
			      uint64_t logical)
{
	uint32_t count = m->a->w.block_size / 4;
	uint64_t span = 1;

	if (!block)
		return;
	if (!level) {
		ext_audit_mapped(m, logical, block, 1, true);
		return;
	}
	if (!ext_audit_use(m->a, block, "a block of pointers", m->f->number))
		return;
	m->blocks++;
	/* All but the block itself lies where reserved descriptors do, which are used already. */
	if (m->f->number == EXT_AUDIT_RESIZE)
		return;
	for (unsigned i = 1; i < level; i++)
		span *= count;
	for (uint32_t i = 0; i < count; i++)
		ext_audit_pointer(
			m, ondisk_le(m->a->w.disk + block * m->a->w.block_size + 4ULL * i, 4),
			level - 1, logical + i * span);
}

static void ext_audit_pointers(struct ext_audit_map *m)
{
	const uint8_t *pointers = m->f->inode + inode_block_i_block_0_AT;
	uint64_t count = m->a->w.block_size / 4, logical = DIRECT_POINTERS, span = count;

	for (unsigned i = 0; i < DIRECT_POINTERS; i++)
		ext_audit_pointer(m, ondisk_le(pointers + 4ULL * i, 4), 0, i);
	for (unsigned level = 1; level <= 3; level++) {
		ext_audit_pointer(m, ondisk_le(pointers + 4 * (DIRECT_POINTERS + level - 1ULL), 4),
				  level, logical);
		logical += span;
		span *= count;
	}
}

void ext_audit_map(struct ext_audit_map *m)
{
	uint64_t root = m->f->at + inode_block_i_block_0_AT;
	uint32_t depth = ONDISK_LE(m->f->inode + inode_block_i_block_0_AT, extent_header, eh_depth);

	m->last = m->last_written = -1;
	if (!(m->f->flags & EXT_EXTENTS_FL))
		ext_audit_pointers(m);
	else if (depth > EXTENT_DEPTH_MAX)
		audit_breach(m->a->audit, "a tree of extents is too high", "inode %u: %u",
			     m->f->number, depth);
	else
		ext_audit_extents(m, root, EXT_BLOCK_POINTERS_LEN, depth);
}
