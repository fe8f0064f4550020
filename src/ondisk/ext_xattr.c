/* ext_xattr.c -- extended attributes of ext2, ext3 and ext4: in a block, and behind an inode. */
#include <errno.h>
#include <string.h>

#include "ondisk/ext.h"

enum {
	ENTRY_LEN = 16, /* without its name */
	BLOCK_HEADER_LEN = 32,
	IBODY_HEADER_LEN = 4,
	INDEX_SYSTEM = 7, /* system.data has the rest of inline data */
};

/* Entries from `first` on, before `end`; values count from `base`. */
struct ext_xattrs {
	uint64_t first, end, base;
};

static uint32_t ext_xattr_len(const uint8_t *entry)
{
	return (ENTRY_LEN + ONDISK_LE(entry, xattr_entry, e_name_len) + 3) & ~3U;
}

/* The entry at *at, or the next one when there is one before: true, and where. */
static bool ext_xattr_next(struct ext_walk *w, const struct ext_xattrs *x, uint64_t *at)
{
	*at = *at ? *at + ext_xattr_len(w->disk + *at) : x->first;
	if (*at + 4 > x->end || !ondisk_le(w->disk + *at, 4))
		return false;
	return *at + ENTRY_LEN <= x->end && *at + ext_xattr_len(w->disk + *at) <= x->end;
}

/* Where the value is, and how long: 0 if it is elsewhere, or none. */
static uint32_t ext_xattr_value(struct ext_walk *w, const struct ext_xattrs *x, uint64_t entry,
				uint64_t *ret_at)
{
	const uint8_t *e = w->disk + entry;
	uint64_t len = ONDISK_LE(e, xattr_entry, e_value_size);

	*ret_at = x->base + ONDISK_LE(e, xattr_entry, e_value_offs);
	if (ONDISK_LE(e, xattr_entry, e_value_inum) || *ret_at > x->end || len > x->end - *ret_at)
		return 0;
	return len;
}

static void ext_xattr_add(struct ext_walk *w, const struct ext_file *f, const struct ext_xattrs *x,
			  uint64_t entry)
{
	const uint8_t *e = w->disk + entry;
	uint32_t name_len = ONDISK_LE(e, xattr_entry, e_name_len), len;
	struct ondisk_cover cover = {
		.at = entry,
		.len = ENTRY_LEN + name_len,
		.kind = EXT_SUM_XATTR_ENTRY,
		.of = entry,
		.with = x->base,
		.number = x->end,
	};
	uint64_t value;

	ext_add(w, xattr_entry, entry, ENTRY_LEN + name_len, "%s, %.*s", f->label, (int)name_len,
		(const char *)e + ENTRY_LEN);
	if (ONDISK_LE(e, xattr_entry, e_hash))
		ext_cover(w, cover);
	len = ext_xattr_value(w, x, entry, &value);
	if (!len)
		return;
	ext_add(w, xattr_value, value, len, "%s, %.*s", f->label, (int)name_len,
		(const char *)e + ENTRY_LEN);
	cover.at = value;
	cover.len = len;
	if (ONDISK_LE(e, xattr_entry, e_hash))
		ext_cover(w, cover);
}

static void ext_xattr_entries(struct ext_walk *w, const struct ext_file *f,
			      const struct ext_xattrs *x)
{
	uint64_t at = 0;

	while (ext_xattr_next(w, x, &at))
		ext_xattr_add(w, f, x, at);
	if (at + 4 <= x->end)
		ext_add(w, xattr_end, at, 4, "%s", f->label);
}

/* False: the inode has none behind it. */
static bool ext_xattr_ibody(const struct ext_walk *w, const struct ext_file *f,
			    struct ext_xattrs *ret)
{
	uint64_t at;

	if (w->inode_size < EXT_INODE_OLD_LEN + 4)
		return false;
	at = f->at + EXT_INODE_OLD_LEN + ONDISK_LE(f->inode, inode, i_extra_isize);
	if (at + IBODY_HEADER_LEN > f->at + w->inode_size ||
	    ondisk_le(w->disk + at, 4) != (uint32_t)EXT_XATTR_MAGIC)
		return false;
	*ret = (struct ext_xattrs){
		.first = at + IBODY_HEADER_LEN,
		.end = f->at + w->inode_size,
		.base = at + IBODY_HEADER_LEN,
	};
	return true;
}

/* Several inodes may share the block: the first of them adds it. */
static int ext_xattr_block(struct ext_walk *w, const struct ext_file *f)
{
	uint64_t block = ONDISK_LE(f->inode, inode, i_file_acl_lo) |
			 ONDISK_LE(f->inode, inode, l_i_file_acl_high) << 32;
	uint64_t at = block * w->block_size;
	const uint8_t *p;

	if (!block)
		return 0;
	p = ext_block(w, block);
	if (!p || ONDISK_LE(p, xattr_header, h_magic) != (uint32_t)EXT_XATTR_MAGIC)
		return ext_damaged(w, "the attributes of inode %u cannot be", f->number);
	if (w->seen[block / 8] & 1 << block % 8)
		return 0;
	w->seen[block / 8] |= 1 << block % 8;
	ext_add(w, xattr_header, at, BLOCK_HEADER_LEN, "%s", f->label);
	ext_cover(w, (struct ondisk_cover){ .at = at,
					    .len = w->block_size,
					    .kind = EXT_SUM_XATTRS,
					    .of = at,
					    .number = block });
	ext_xattr_entries(w, f,
			  &(struct ext_xattrs){ .first = at + BLOCK_HEADER_LEN,
						.end = at + w->block_size,
						.base = at });
	return 0;
}

int ext_xattrs_walk(struct ext_walk *w, const struct ext_file *f)
{
	struct ext_xattrs x;

	if (ext_xattr_ibody(w, f, &x)) {
		ext_add(w, xattr_ibody_header, x.first - IBODY_HEADER_LEN, IBODY_HEADER_LEN, "%s",
			f->label);
		ext_xattr_entries(w, f, &x);
	}
	return ext_xattr_block(w, f);
}

uint32_t ext_inline_rest(struct ext_walk *w, const struct ext_file *f, uint64_t *ret_at)
{
	struct ext_xattrs x;
	uint64_t at = 0;

	if (!ext_xattr_ibody(w, f, &x))
		return 0;
	while (ext_xattr_next(w, &x, &at)) {
		const uint8_t *e = w->disk + at;

		if (ONDISK_LE(e, xattr_entry, e_name_index) == INDEX_SYSTEM &&
		    ONDISK_LE(e, xattr_entry, e_name_len) == 4 && !memcmp(e + ENTRY_LEN, "data", 4))
			return ext_xattr_value(w, &x, at, ret_at);
	}
	return 0;
}
