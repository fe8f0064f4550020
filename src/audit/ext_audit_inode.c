/* ext_audit_inode.c -- the rules of inodes: sizes, blocks, flags. */
#include <string.h>
#include <sys/stat.h>

#include "audit/ext_audit.h"
#include "base/must.h"

enum {
	SECTOR = 512,
	USER_QUOTA = 3,
	GROUP_QUOTA = 4,
	BOOT_LOADER = 5,
	JOURNAL = 8,
	FIRST_INODE_USUAL = 11, /* before which none is for files */
	RO_COMPAT_HUGE_FILE = 0x8,
	INCOMPAT_EXTENTS = 0x40,
	INCOMPAT_INLINE_DATA = 0x8000,
	INCOMPAT_EA_INODE = 0x400,
};

/* A name of the file system's own, that no directory has. */
static bool ext_audit_is_special(const struct ext_walk *w, uint32_t number)
{
	return number < ONDISK_LE(w->super, super_block, s_first_ino) ||
	       number == ONDISK_LE(w->super, super_block, s_prj_quota_inum) ||
	       (w->compat & EXT_COMPAT_ORPHAN_FILE &&
		number == ONDISK_LE(w->super, super_block, s_orphan_file_inum));
}

/* Each flag is a rule: a checker that overlooks one looks at others. */
static void ext_audit_flags(struct ext_audit *a, const struct ext_file *f)
{
	bool is_directory = S_ISDIR(f->mode), is_regular = S_ISREG(f->mode);
	bool has_blocks = is_regular || is_directory || S_ISLNK(f->mode);
	bool has_extents = f->flags & EXT_EXTENTS_FL;
	const struct {
		uint32_t flag;
		bool allowed;
		const char *rule;
	} rows[] = {
		{ EXT_EXTENTS_FL, a->w.incompat & INCOMPAT_EXTENTS && has_blocks,
		  "an inode has the flag of extents that it cannot have" },
		{ EXT_INLINE_DATA_FL,
		  a->w.incompat & INCOMPAT_INLINE_DATA && has_blocks && !has_extents,
		  "an inode has the flag of data in the inode that it cannot have" },
		{ EXT_INDEX_FL, a->w.compat & EXT_COMPAT_DIR_INDEX && is_directory,
		  "an inode has the flag of an index that it cannot have" },
		{ EXT_EA_INODE_FL, a->w.incompat & INCOMPAT_EA_INODE && is_regular,
		  "an inode has the flag of an attribute's value that it cannot have" },
		{ EXT_AUDIT_CASEFOLD_FL,
		  a->w.incompat & EXT_AUDIT_INCOMPAT_CASEFOLD && is_directory,
		  "an inode has the flag of case folding that it cannot have" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (f->flags & rows[i].flag && !rows[i].allowed)
			audit_breach(a->audit, rows[i].rule, "inode %u: i_flags 0x%x", f->number,
				     f->flags);
}

/* In blocks of the file system. */
static void ext_audit_block_count(struct ext_audit *a, const struct ext_file *f, uint64_t blocks)
{
	uint64_t said = ONDISK_LE(f->inode, inode, i_blocks_lo), should = blocks;

	if (a->w.ro_compat & RO_COMPAT_HUGE_FILE)
		said |= ONDISK_LE(f->inode, inode, l_i_blocks_high) << 32;
	if (!(a->w.ro_compat & RO_COMPAT_HUGE_FILE && f->flags & EXT_AUDIT_HUGE_FILE_FL))
		should *= a->w.block_size / SECTOR;
	if (said != should)
		audit_breach(a->audit, "i_blocks is not the number of blocks",
			     "inode %u: %llu, of %llu", f->number, (unsigned long long)said,
			     (unsigned long long)should);
}

static void ext_audit_size(struct ext_audit *a, const struct ext_file *f,
			   const struct ext_audit_map *m)
{
	uint64_t block_size = a->w.block_size;
	bool wrong;

	if (S_ISDIR(f->mode))
		wrong = !f->size || f->size % block_size ||
			(int64_t)(f->size / block_size) <= m->last || m->unwritten;
	else
		wrong = m->last_written >= 0 && f->size < (uint64_t)m->last_written * block_size;
	if (wrong)
		audit_breach(a->audit, "i_size does not fit the blocks",
			     "inode %u: %llu bytes, and the last block is %lld", f->number,
			     (unsigned long long)f->size, (long long)m->last);
}

static void ext_audit_symlink(struct ext_audit *a, const struct ext_file *f, bool fast)
{
	const uint8_t *target = f->inode + inode_block_i_block_0_AT;
	uint64_t room = EXT_BLOCK_POINTERS_LEN;
	struct ext_file g = *f;

	if (f->flags & EXT_INLINE_DATA_FL)
		return;
	if (!fast) {
		target = !ext_file_blocks(&a->w, &g) ? ext_block(&a->w, ext_file_block(&g, 0))
						     : NULL;
		room = a->w.block_size;
		ext_file_close(&g);
	}
	if (!target || f->size >= room || strnlen((const char *)target, room) != f->size ||
	    !f->size)
		audit_breach(a->audit, "the length of a symbolic link is not i_size", "inode %u",
			     f->number);
}

/* Of a directory that lies in its inode, i_size is all of the place it has there
 * (ext4_update_inline_dir()). */
static void ext_audit_inline_size(struct ext_audit *a, const struct ext_file *f)
{
	uint64_t at, len = EXT_BLOCK_POINTERS_LEN + ext_inline_rest(&a->w, f, &at);

	if (f->flags & EXT_INLINE_DATA_FL && S_ISDIR(f->mode) && f->size != len)
		audit_breach(a->audit, "i_size is not the length of the data in the inode",
			     "inode %u: %llu, of %llu", f->number, (unsigned long long)f->size,
			     (unsigned long long)len);
}

/* Inodes that are set aside and that no feature ever uses are empty (special inodes, as the
 * format's documentation lists them). */
static void ext_audit_reserved(struct ext_audit *a, const struct ext_file *f)
{
	const uint32_t used[] = {
		EXT_AUDIT_ROOT,
		BOOT_LOADER,
		EXT_AUDIT_RESIZE,
		USER_QUOTA,
		GROUP_QUOTA,
		JOURNAL,
		ONDISK_LE(a->w.super, super_block, s_journal_inum),
		ONDISK_LE(a->w.super, super_block, s_prj_quota_inum),
	};

	for (size_t i = 0; i < ARRAY_LEN(used); i++)
		if (f->number == used[i])
			return;
	if (f->number < FIRST_INODE_USUAL && f->mode)
		audit_breach(a->audit, "an inode that is set aside has a mode", "inode %u: 0%o",
			     f->number, f->mode);
}

static void ext_audit_contents(struct ext_audit *a, const struct ext_file *f)
{
	struct ext_audit_map m = { .a = a, .f = f, .last = -1, .last_written = -1 };
	bool has_blocks = ext_file_has_blocks(f);

	if (has_blocks)
		ext_audit_map(&m);
	m.blocks += ext_audit_xattrs(a, f);
	a->inodes[f->number].blocks = m.blocks;
	ext_audit_reserved(a, f);
	if (f->number == EXT_AUDIT_RESIZE || f->number < EXT_AUDIT_ROOT)
		return;
	ext_audit_inline_size(a, f);
	ext_audit_block_count(a, f, m.blocks);
	if (S_ISLNK(f->mode))
		ext_audit_symlink(a, f, !has_blocks);
	else if (has_blocks)
		ext_audit_size(a, f, &m);
	else if (!(f->flags & EXT_INLINE_DATA_FL) && f->size)
		audit_breach(a->audit, "a device, FIFO or socket has a size", "inode %u",
			     f->number);
}

/* Fields that say nothing of blocks. Of inodes that have no name, most are never read. */
static void ext_audit_fields(struct ext_audit *a, const struct ext_file *f,
			     const struct ext_audit_inode *i)
{
	uint64_t extra =
		a->w.inode_size > EXT_INODE_OLD_LEN ? ONDISK_LE(f->inode, inode, i_extra_isize) : 0;

	if (!i->links)
		audit_breach(a->audit, "an inode in use has no links", "inode %u", f->number);
	else if (ONDISK_LE(f->inode, inode, i_dtime))
		audit_breach(a->audit, "an inode in use has a time of deletion", "inode %u",
			     f->number);
	if (!i->is_ea && ONDISK_LE(f->inode, inode, i_obso_faddr))
		audit_breach(a->audit, "i_faddr is not zero", "inode %u", f->number);
	if (extra % 4 || extra > a->w.inode_size - EXT_INODE_OLD_LEN)
		audit_breach(a->audit, "i_extra_isize cannot be", "inode %u: %llu", f->number,
			     (unsigned long long)extra);
	ext_audit_flags(a, f);
}

void ext_audit_inode(struct ext_audit *a, uint32_t number)
{
	bool special = ext_audit_is_special(&a->w, number);
	struct ext_audit_inode *i = &a->inodes[number];
	struct ext_file f;

	if (ext_file_open(&a->w, &f, number) || (special && !f.mode))
		return;
	*i = (struct ext_audit_inode){
		.mode = f.mode,
		.links = ONDISK_LE(f.inode, inode, i_links_count),
		.used = !special || number == EXT_AUDIT_ROOT,
		.is_ea = f.flags & EXT_EA_INODE_FL && a->w.incompat & INCOMPAT_EA_INODE,
		.flags = f.flags,
		.names = i->names,
		.ea_uses = i->ea_uses,
		.data_size = f.size,
	};
	if (i->used)
		ext_audit_fields(a, &f, i);
	ext_audit_contents(a, &f);
}
