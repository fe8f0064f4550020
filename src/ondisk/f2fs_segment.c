/* f2fs_segment.c -- the tables of F2FS: where nodes are (NAT), which blocks of segments are in use
 * (SIT) and whose they are (SSA), with the journals of them in the current pack. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/f2fs.h"

enum {
	F2FS_NATS = F2FS_BLOCK / F2FS_NAT_ENTRY, /* entries in a block */
	F2FS_SITS = F2FS_BLOCK / F2FS_SIT_ENTRY,
	F2FS_NAT_JOURNAL = F2FS_NAT_ENTRY + 4, /* an entry and its number */
	F2FS_SIT_JOURNAL = F2FS_SIT_ENTRY + 4,
	F2FS_VBLOCKS = 0x3ff, /* of vblocks; the rest is the type of the segment */
	F2FS_LOGS_MAX = 2 * F2FS_CURRENT,
};

/* ---- summaries in the pack ---- */

static bool f2fs_is_compact(const struct f2fs_disk *x)
{
	return x->pack.flags & F2FS_CP_COMPACT;
}

/* Where the summaries of current segments of data (0 to 2) and, after an unmount, of nodes (3 to 5)
 * lie in the pack. */
static uint64_t f2fs_current_at(const struct f2fs_disk *x, unsigned log)
{
	uint32_t logs = x->pack.flags & F2FS_CP_UMOUNT ? F2FS_LOGS_MAX : F2FS_CURRENT;

	return ((uint64_t)x->pack.block + x->pack.blocks - (logs + 1) + log) * F2FS_BLOCK;
}

/* The journal of the NAT is beside the summaries of hot data, that of the SIT beside cold. */
static uint64_t f2fs_journal_at(const struct f2fs_disk *x, bool sit)
{
	uint64_t first = ((uint64_t)x->pack.block + x->pack.start_sum) * F2FS_BLOCK;

	if (f2fs_is_compact(x))
		return first + (sit ? F2FS_JOURNAL_SIZE : 0);
	return f2fs_current_at(x, sit ? 2 : 0) + F2FS_JOURNAL_AT;
}

/* How many entries a journal has; where the first is. */
static uint32_t f2fs_walk_journal(struct f2fs_disk *x, bool sit, uint64_t *ret_at)
{
	uint64_t at = f2fs_journal_at(x, sit);
	uint32_t size = sit ? F2FS_SIT_JOURNAL : F2FS_NAT_JOURNAL, count;
	const uint8_t *p = walk_read(&x->walk, at, F2FS_JOURNAL_SIZE, "journal");

	*ret_at = at + 2;
	if (!p)
		return 0;
	walk_add(&x->walk, &f2fs_def_journal, at, 2, "journal of the %s", sit ? "SIT" : "NAT");
	count = ONDISK_LE(p, journal, n_entries);
	if (count > (F2FS_JOURNAL_SIZE - 2) / size)
		walk_fail(&x->walk, "the journal of the %s has %u entries", sit ? "SIT" : "NAT",
			  count);
	return count;
}

/* The summaries of the first blocks of a segment, one behind the other. */
static void f2fs_walk_summaries(struct f2fs_disk *x, uint64_t at, uint32_t segment,
				const uint8_t *valid_map)
{
	for (uint32_t i = 0; i < F2FS_SEGMENT && !x->walk.status; i++)
		if (f2fs_bit(valid_map, 64, i))
			walk_add(&x->walk, &f2fs_def_summary, at + i * F2FS_SUM_SIZE, F2FS_SUM_SIZE,
				 "segment %u, summary of block %u", segment, i);
}

static void f2fs_walk_summary_block(struct f2fs_disk *x, uint64_t at, uint32_t segment,
				    const uint8_t *valid_map)
{
	f2fs_walk_summaries(x, at, segment, valid_map);
	walk_add(&x->walk, &f2fs_def_summary_footer, at + F2FS_BLOCK - F2FS_SUM_FOOTER,
		 F2FS_SUM_FOOTER, "segment %u, summaries", segment);
}

/* The number of a current segment, or -1. */
static int f2fs_log_of(const struct f2fs_disk *x, uint32_t segment)
{
	const uint8_t *data = x->pack.cp + cp_cur_data_segno_0_AT;
	const uint8_t *node = x->pack.cp + cp_cur_node_segno_0_AT;

	for (int i = 0; i < F2FS_CURRENT; i++) {
		if (ondisk_le(data + i * 4, 4) == segment)
			return i;
		if (ondisk_le(node + i * 4, 4) == segment)
			return F2FS_CURRENT + i;
	}
	return -1;
}

/* One behind the other from the end of the journals on, as many as current segments have blocks. */
static void f2fs_walk_compact(struct f2fs_disk *x)
{
	uint64_t block = (uint64_t)x->pack.block + x->pack.start_sum;
	uint32_t offset = 2 * F2FS_JOURNAL_SIZE;

	for (unsigned log = 0; log < F2FS_CURRENT; log++) {
		const uint8_t *cp = x->pack.cp;
		uint32_t count = ondisk_le(cp + cp_cur_data_blkoff_0_AT + log * 2, 2);

		/* Segments whose holes are filled have them all. */
		if (cp[cp_alloc_type_AT + log])
			count = F2FS_SEGMENT;
		for (uint32_t i = 0; i < count && i < F2FS_SEGMENT && !x->walk.status; i++) {
			walk_add(&x->walk, &f2fs_def_summary, block * F2FS_BLOCK + offset,
				 F2FS_SUM_SIZE, "current data segment %u, summary of block %u", log,
				 i);
			offset += F2FS_SUM_SIZE;
			if (offset + F2FS_SUM_SIZE > F2FS_BLOCK - F2FS_SUM_FOOTER) {
				block++;
				offset = 0;
			}
		}
	}
}

/* ---- which blocks are in use ---- */

static void f2fs_walk_segment(struct f2fs_disk *x, uint32_t segment, const uint8_t *valid_map)
{
	int log = f2fs_log_of(x, segment);
	uint64_t at = ((uint64_t)x->ssa + segment) * F2FS_BLOCK;

	if (log >= 0 && log < F2FS_CURRENT && f2fs_is_compact(x))
		return;
	if (log >= F2FS_CURRENT && !(x->pack.flags & F2FS_CP_UMOUNT))
		return;
	if (log >= 0)
		at = f2fs_current_at(x, (unsigned)log);
	if (walk_read(&x->walk, at, F2FS_BLOCK, "summaries"))
		f2fs_walk_summary_block(x, at, segment, valid_map);
}

/* Segments that the journal has: their entries in the table are out of date. */
static void f2fs_walk_sit_journal(struct f2fs_disk *x, struct walk_set *done)
{
	uint64_t at;
	uint32_t count = f2fs_walk_journal(x, true, &at);

	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p =
			walk_add(&x->walk, &f2fs_def_sit_journal_entry, at + i * F2FS_SIT_JOURNAL,
				 F2FS_SIT_JOURNAL, "journal of the SIT, %u", i);
		uint64_t segment = p ? ONDISK_LE(p, sit_journal_entry, segno) : 0;

		if (p && walk_set_add(&x->walk, done, segment, "segment"))
			f2fs_walk_segment(x, segment, p + sit_journal_entry_valid_map_AT);
	}
}

static uint64_t f2fs_sit_at(const struct f2fs_disk *x, uint32_t segment)
{
	uint32_t block = segment / F2FS_SITS;
	uint64_t copy = f2fs_bit(x->pack.sit_bitmap, x->pack.sit_bitmap_size, block);

	return (x->sit + block + copy * x->sit_blocks) * F2FS_BLOCK +
	       (uint64_t)(segment % F2FS_SITS) * F2FS_SIT_ENTRY;
}

/* Those in use, and the first that is not. */
void f2fs_walk_sit(struct f2fs_disk *x)
{
	struct walk_set done;
	bool free_met = false;

	walk_set_make(&x->walk, &done, x->main_segments, "segments");
	f2fs_walk_sit_journal(x, &done);
	if (f2fs_is_compact(x))
		f2fs_walk_compact(x);
	for (uint32_t i = 0; i < x->main_segments && !x->walk.status; i++) {
		uint64_t at = f2fs_sit_at(x, i);
		const uint8_t *p = walk_read(&x->walk, at, F2FS_SIT_ENTRY, "segment");
		bool used = p && ONDISK_LE(p, sit_entry, vblocks) & F2FS_VBLOCKS;

		if (!p || (!used && free_met))
			continue;
		free_met |= !used;
		walk_add(&x->walk, &f2fs_def_sit_entry, at, F2FS_SIT_ENTRY, "segment %u%s", i,
			 used ? "" : ", free");
		if (used && walk_set_add(&x->walk, &done, i, "segment"))
			f2fs_walk_segment(x, i, p + sit_entry_valid_map_AT);
	}
	walk_set_free(&done);
}

/* ---- where nodes are ---- */

static uint64_t f2fs_nat_at(const struct f2fs_disk *x, uint32_t node)
{
	uint32_t block = node / F2FS_NATS;
	uint64_t copy = f2fs_bit(x->pack.nat_bitmap, x->pack.nat_bitmap_size, block);
	uint64_t segment = block / F2FS_SEGMENT;

	return (x->nat + segment * 2 * F2FS_SEGMENT + block % F2FS_SEGMENT + copy * F2FS_SEGMENT) *
		       F2FS_BLOCK +
	       (uint64_t)(node % F2FS_NATS) * F2FS_NAT_ENTRY;
}

static void f2fs_walk_nat_journal(struct f2fs_disk *x)
{
	uint64_t at;
	uint32_t count = f2fs_walk_journal(x, false, &at);

	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p =
			walk_add(&x->walk, &f2fs_def_nat_journal_entry, at + i * F2FS_NAT_JOURNAL,
				 F2FS_NAT_JOURNAL, "journal of the NAT, %u", i);
		uint64_t node = p ? ONDISK_LE(p, nat_journal_entry, nid) : 0;

		if (p && node < x->nodes)
			x->node_at[node] = ONDISK_LE(p, nat_journal_entry, block_addr);
		else
			walk_fail(&x->walk, "the journal of the NAT has node %llu",
				  (unsigned long long)node);
	}
}

/* Those in use, and the first that is not. */
void f2fs_walk_nat(struct f2fs_disk *x)
{
	bool free_met = false;

	x->nodes = x->nat_blocks * F2FS_NATS;
	x->node_at = must_alloc((x->nodes + 1UL) * sizeof(*x->node_at));
	for (uint32_t i = 1; i < x->nodes && !x->walk.status; i++) {
		uint64_t at = f2fs_nat_at(x, i);
		const uint8_t *p = walk_read(&x->walk, at, F2FS_NAT_ENTRY, "node");

		if (p)
			x->node_at[i] = ONDISK_LE(p, nat_entry, block_addr);
		if (!p || (!x->node_at[i] && free_met))
			continue;
		free_met |= !x->node_at[i];
		walk_add(&x->walk, &f2fs_def_nat_entry, at, F2FS_NAT_ENTRY, "node %u%s", i,
			 x->node_at[i] ? "" : ", free");
	}
	f2fs_walk_nat_journal(x);
}
