/* ext_audit.c -- the rules of ext2, ext3 and ext4: the superblock; the audit as a whole.
 *
 * The rules are those of the kernel's documentation (Documentation/filesystems/ext4) and of what
 * fs/ext4 refuses. Disks with clusters, encryption, case folding, bad blocks or unknown features
 * are left out. */
#include "audit/ext_audit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/must.h"

enum {
	INCOMPAT_RECOVER = 0x4,
	/* file types, recover, meta_bg, extents, 64bit, mmp, flex_bg, ea_inode, seed, large
	 * directories, inline data */
	INCOMPAT_AUDITED = 0xe7d6,
	/* sparse, large and huge files, sums of groups, links of directories, extra size, quota,
	 * sums, project */
	RO_COMPAT_AUDITED = 0x1257b,
	RO_COMPAT_ORPHAN_PRESENT = 0x10000,
	STATE_VALID = 1,
	STATE_ERRORS = 2,
	AUDITED_BLOCKS_MAX = 1 << 20,
	ORPHAN_TAIL_LEN = 8,
	ORPHAN_MAGIC = 0x0b10ca04,
	ORPHAN_BLOCKS_MAX = 512,
};

bool ext_audit_bit(const uint8_t *bits, uint64_t number)
{
	return bits[number / 8] & 1 << number % 8;
}

bool ext_audit_use(struct ext_audit *a, uint64_t block, const char *what, uint32_t inode)
{
	if (block < a->w.first_data_block || block >= a->w.block_count) {
		audit_breach(a->audit, "a block number lies outside of the file system",
			     "%s of inode %u: block %llu", what, inode, (unsigned long long)block);
		return false;
	}
	if (ext_audit_bit(a->used, block)) {
		audit_breach(a->audit, "a block is used twice", "block %llu: %s of inode %u",
			     (unsigned long long)block, what, inode);
		return false;
	}
	a->used[block / 8] |= 1 << block % 8;
	return true;
}

/* The journal has nothing to replay, and no error is recorded in it. */
static void ext_audit_journal(struct ext_audit *a)
{
	uint32_t number = ONDISK_LE(a->w.super, super_block, s_journal_inum);
	const uint8_t *super;
	struct ext_file f;

	if (!(a->w.compat & EXT_COMPAT_HAS_JOURNAL) || !number || number > a->w.inode_count ||
	    ext_file_open(&a->w, &f, number))
		return;
	if (!S_ISREG(f.mode) || !f.size)
		audit_breach(a->audit, "the journal is no file", "inode %u", number);
	if (!ext_file_blocks(&a->w, &f)) {
		super = ext_block(&a->w, ext_file_block(&f, 0));
		if (!super ||
		    ONDISK_BE(super, journal_superblock, h_magic) != (uint32_t)EXT_JOURNAL_MAGIC)
			audit_breach(a->audit, "the journal has no superblock", "inode %u", number);
		else if (ONDISK_BE(super, journal_superblock, s_start))
			audit_breach(a->audit, "the journal is not empty", "s_start is %llu",
				     (unsigned long long)ONDISK_BE(super, journal_superblock,
								   s_start));
		else if (ONDISK_BE(super, journal_superblock, s_errno))
			audit_breach(
				a->audit, "the journal has an error recorded", "s_errno is %llu",
				(unsigned long long)ONDISK_BE(super, journal_superblock, s_errno));
	}
	ext_file_close(&f);
}

static void ext_audit_orphan_block(struct ext_audit *a, const uint8_t *p, uint32_t number)
{
	uint32_t tail = a->w.block_size - ORPHAN_TAIL_LEN;

	if (!p || ONDISK_LE(p + tail, orphan_block_tail, ob_magic) != ORPHAN_MAGIC) {
		audit_breach(a->audit, "the orphan file cannot be", "block %u", number);
		return;
	}
	for (uint32_t at = 0; at < tail; at += orphan_entry_inode_LEN)
		if (ONDISK_LE(p + at, orphan_entry, inode))
			audit_breach(a->audit, "the orphan file is not empty", "block %u: inode %u",
				     number, (unsigned)ONDISK_LE(p + at, orphan_entry, inode));
}

/* Nothing is left in it once the orphans were dealt with (ext4_process_orphan()). */
static void ext_audit_orphan_file(struct ext_audit *a)
{
	struct ext_file f;

	if (!(a->w.compat & EXT_COMPAT_ORPHAN_FILE) ||
	    ext_file_open(&a->w, &f, ONDISK_LE(a->w.super, super_block, s_orphan_file_inum)))
		return;
	if (!ext_file_blocks(&a->w, &f))
		for (uint32_t i = 0; i < f.size / a->w.block_size && i < ORPHAN_BLOCKS_MAX; i++)
			ext_audit_orphan_block(a, ext_block(&a->w, ext_file_block(&f, i)), i);
	ext_file_close(&f);
}

static void ext_audit_super(struct ext_audit *a)
{
	const uint8_t *s = a->w.super;
	uint64_t state = ONDISK_LE(s, super_block, s_state);
	uint64_t orphan = ONDISK_LE(s, super_block, s_last_orphan);
	uint64_t reserved = ONDISK_LE(s, super_block, s_r_blocks_count_lo);

	if (state & STATE_ERRORS || !(state & STATE_VALID))
		audit_breach(a->audit, "the superblock does not say that the disk is clean",
			     "s_state is 0x%llx", (unsigned long long)state);
	if (orphan)
		audit_breach(a->audit, "the list of orphans is not empty", "s_last_orphan is %llu",
			     (unsigned long long)orphan);
	if (a->w.incompat & INCOMPAT_RECOVER)
		audit_breach(a->audit, "the superblock says that the journal is to be replayed",
			     "s_feature_incompat is 0x%x", a->w.incompat);
	if (a->w.ro_compat & RO_COMPAT_ORPHAN_PRESENT)
		audit_breach(a->audit, "the superblock says that there are orphans",
			     "s_feature_ro_compat is 0x%x", a->w.ro_compat);
	if (reserved > a->w.block_count)
		audit_breach(a->audit, "more blocks are reserved than there are", "%llu",
			     (unsigned long long)reserved);
	ext_audit_journal(a);
	ext_audit_orphan_file(a);
}

static void ext_audit_inodes(struct ext_audit *a)
{
	for (uint32_t group = 0; group < a->w.group_count; group++) {
		const uint8_t *desc = a->w.disk + a->w.descs[group];
		const uint8_t *bits = ext_block(
			&a->w, ext_desc_block(&a->w, desc, group_desc_bg_inode_bitmap_lo_AT,
					      group_desc_bg_inode_bitmap_hi_AT));

		if (!bits || ONDISK_LE(desc, group_desc, bg_flags) & EXT_BG_INODE_UNINIT)
			continue;
		for (uint32_t i = 0; i < a->w.inodes_per_group; i++)
			if (ext_audit_bit(bits, i))
				ext_audit_inode(a, group * a->w.inodes_per_group + i + 1);
	}
}

/* Whether the rules of what this disk has are known. */
static bool ext_audit_knows(const struct ext_walk *w)
{
	return !(w->incompat & ~(uint32_t)INCOMPAT_AUDITED) &&
	       !(w->ro_compat & ~(uint32_t)RO_COMPAT_AUDITED) &&
	       ONDISK_LE(w->super, super_block, s_rev_level) == 1 &&
	       !ONDISK_LE(w->super, super_block, s_creator_os) &&
	       ONDISK_LE(w->super, super_block, s_blocks_per_group) <= 8ULL * w->block_size &&
	       w->block_count <= AUDITED_BLOCKS_MAX &&
	       w->inode_count == w->group_count * w->inodes_per_group;
}

/* What lies in a bad block counts as in use, also inodes that are none. */
static bool ext_audit_has_bad_blocks(struct ext_audit *a)
{
	static const uint8_t none[EXT_BLOCK_POINTERS_LEN];
	struct ext_file f;

	return ext_file_open(&a->w, &f, EXT_AUDIT_BAD_BLOCKS) ||
	       memcmp(f.inode + inode_block_i_block_0_AT, none, sizeof(none)) != 0;
}

static void ext_audit_all(struct ext_audit *a)
{
	for (uint32_t group = 0; group < a->w.group_count; group++)
		if (ext_walk_copies(&a->w, group))
			return;
	for (uint32_t group = 0; group < a->w.group_count; group++)
		if (!a->w.descs[group])
			return;
	if (ext_audit_has_bad_blocks(a))
		return;
	ext_audit_super(a);
	ext_audit_metadata(a);
	ext_audit_inodes(a);
	ext_audit_tree(a);
	ext_audit_xattr_uses(a);
	ext_audit_groups(a);
	ext_audit_backups(a);
	ext_audit_resize(a);
	ext_audit_quotas(a);
}

void ext_audit(struct audit *to, const uint8_t *disk, uint64_t size)
{
	struct ext_audit a = { .audit = to };
	struct ondisk_map map = { .disk_size = size };
	struct err ignored = { 0 };

	if (ondisk_ext.recognises(disk, size) && !ext_walk_open(&a.w, &map, disk, &ignored) &&
	    ext_audit_knows(&a.w)) {
		to->has_rules = true;
		a.w.quiet = true;
		a.used = must_alloc(a.w.block_count / 8 + 1);
		a.xattr_uses = must_alloc(a.w.block_count * sizeof(*a.xattr_uses));
		a.inodes = must_alloc(((size_t)a.w.inode_count + 1) * sizeof(*a.inodes));
		a.has_types = a.w.incompat & 2;
		ext_audit_all(&a);
		free(a.used);
		free(a.xattr_uses);
		free(a.inodes);
	}
	ext_walk_close(&a.w);
}
