/* ext_audit_xattr.c -- the rules of extended attributes: in a block, and behind an inode. */
#include <string.h>

#include "audit/ext_audit.h"

enum {
	ENTRY_LEN = 16, /* without its name */
	BLOCK_HEADER_LEN = 32,
	IBODY_HEADER_LEN = 4,
	VALUES_MAX = 64,
};

/* Entries from `first` on, before `end`; values count from `base`. */
struct ext_audit_xattrs {
	struct ext_audit *a;
	const struct ext_file *f;
	const uint8_t *first, *end, *base;
	bool sorted; /* as the kernel expects it of a block (ext4_xattr_find_entry()) */
	struct {
		const uint8_t *at;
		uint64_t len;
	} values[VALUES_MAX];
	size_t value_count;
	uint64_t blocks; /* of values that have an inode */
};

static uint64_t ext_audit_padded(uint64_t len)
{
	return (len + 3) & ~3ULL;
}

static const uint8_t *ext_audit_next(const uint8_t *e)
{
	return e + ext_audit_padded(ENTRY_LEN + ONDISK_LE(e, xattr_entry, e_name_len));
}

/* As Lustre made it: it says whose value it is, and its blocks count for no other inode
 * (ext4_xattr_inode_iget()). */
static bool ext_audit_is_lustre_value(const struct ext_audit_xattrs *x, uint64_t number)
{
	struct ext_file f;

	return number <= x->a->w.inode_count && !ext_file_open(&x->a->w, &f, number) &&
	       ONDISK_LE(f.inode, inode, i_mtime) == x->f->number &&
	       ONDISK_LE(f.inode, inode, i_generation) ==
		       ONDISK_LE(x->f->inode, inode, i_generation);
}

static void ext_audit_value_inode(struct ext_audit_xattrs *x, const uint8_t *e)
{
	uint64_t number = ONDISK_LE(e, xattr_entry, e_value_inum);
	uint64_t len = ONDISK_LE(e, xattr_entry, e_value_size);
	struct ext_file f;

	if (number > x->a->w.inode_count || ext_file_open(&x->a->w, &f, number) ||
	    !(f.flags & EXT_EA_INODE_FL) || f.size != len)
		audit_breach(x->a->audit, "an attribute's value is in an inode that is no such",
			     "inode %u: inode %llu", x->f->number, (unsigned long long)number);
	else
		x->a->inodes[number].ea_uses++;
	if (!ext_audit_is_lustre_value(x, number))
		x->blocks += (len + x->a->w.block_size - 1) / x->a->w.block_size;
}

/* Values must not overlap, neither each other nor entries, which end at `entries_end`. */
static void ext_audit_value(struct ext_audit_xattrs *x, const uint8_t *e,
			    const uint8_t *entries_end)
{
	uint64_t len = ext_audit_padded(ONDISK_LE(e, xattr_entry, e_value_size));
	uint64_t offset = ONDISK_LE(e, xattr_entry, e_value_offs);
	const uint8_t *at = x->base + offset;

	if (ONDISK_LE(e, xattr_entry, e_value_inum)) {
		ext_audit_value_inode(x, e);
		return;
	}
	if (!len)
		return;
	if (offset > (uint64_t)(x->end - x->base) || len > (uint64_t)(x->end - at) ||
	    at < entries_end) {
		audit_breach(x->a->audit, "an attribute's value lies outside of its place",
			     "inode %u", x->f->number);
		return;
	}
	for (size_t i = 0; i < x->value_count; i++)
		if (at < x->values[i].at + x->values[i].len && x->values[i].at < at + len)
			audit_breach(x->a->audit, "values of attributes overlap", "inode %u",
				     x->f->number);
	if (x->value_count < VALUES_MAX) {
		x->values[x->value_count].at = at;
		x->values[x->value_count++].len = len;
	}
}

static int ext_audit_compare_names(const uint8_t *a, const uint8_t *b)
{
	int order = a[xattr_entry_e_name_index_AT] - b[xattr_entry_e_name_index_AT];

	if (!order)
		order = a[0] - b[0];
	return order ? order : memcmp(a + ENTRY_LEN, b + ENTRY_LEN, a[0]);
}

/* Where the entries end; NULL: beyond their place. */
static const uint8_t *ext_audit_entries_end(const struct ext_audit_xattrs *x)
{
	const uint8_t *e = x->first;

	while (e + 4 <= x->end && ondisk_le(e, 4)) {
		if (e + ENTRY_LEN > x->end || ext_audit_next(e) > x->end)
			return NULL;
		e = ext_audit_next(e);
	}
	return e + 4 <= x->end ? e + 4 : NULL;
}

static void ext_audit_entries(struct ext_audit_xattrs *x)
{
	const uint8_t *end = ext_audit_entries_end(x), *last = NULL;

	if (!end) {
		audit_breach(x->a->audit, "entries of attributes have no end", "inode %u",
			     x->f->number);
		return;
	}
	for (const uint8_t *e = x->first; e + 4 < end; e = ext_audit_next(e)) {
		if (x->sorted && last && ext_audit_compare_names(last, e) >= 0)
			audit_breach(x->a->audit, "entries of attributes are not in order",
				     "inode %u", x->f->number);
		ext_audit_value(x, e, end);
		last = e;
	}
}

/* The same block may be that of several inodes: its entries are looked at once for each, and its
 * values in inodes are used once. */
static uint64_t ext_audit_xattr_block(struct ext_audit *a, const struct ext_file *f)
{
	uint64_t block = ONDISK_LE(f->inode, inode, i_file_acl_lo) |
			 ONDISK_LE(f->inode, inode, l_i_file_acl_high) << 32;
	struct ext_audit_xattrs x = { .a = a, .f = f, .sorted = true };
	const uint8_t *p;

	if (!block)
		return 0;
	if (block < a->w.block_count && a->xattr_uses[block])
		a->xattr_uses[block]++;
	else if (ext_audit_use(a, block, "attributes", f->number))
		a->xattr_uses[block] = 1;
	else
		return 1;
	p = ext_block(&a->w, block);
	if (!p || ONDISK_LE(p, xattr_header, h_magic) != (uint32_t)EXT_XATTR_MAGIC ||
	    ONDISK_LE(p, xattr_header, h_blocks) != 1) {
		audit_breach(a->audit, "the header of a block of attributes cannot be",
			     "inode %u: block %llu", f->number, (unsigned long long)block);
		return 1;
	}
	x.base = p;
	x.first = p + BLOCK_HEADER_LEN;
	x.end = p + a->w.block_size;
	ext_audit_entries(&x);
	return 1 + x.blocks;
}

uint64_t ext_audit_xattrs(struct ext_audit *a, const struct ext_file *f)
{
	struct ext_audit_xattrs x = { .a = a, .f = f, .end = f->inode + a->w.inode_size };
	uint64_t extra =
		a->w.inode_size > EXT_INODE_OLD_LEN ? ONDISK_LE(f->inode, inode, i_extra_isize) : 0;

	if (extra && EXT_INODE_OLD_LEN + extra + IBODY_HEADER_LEN <= a->w.inode_size &&
	    ondisk_le(f->inode + EXT_INODE_OLD_LEN + extra, 4) == (uint32_t)EXT_XATTR_MAGIC) {
		x.first = x.base = f->inode + EXT_INODE_OLD_LEN + extra + IBODY_HEADER_LEN;
		ext_audit_entries(&x);
	}
	return x.blocks + ext_audit_xattr_block(a, f);
}

void ext_audit_xattr_uses(struct ext_audit *a)
{
	for (uint64_t block = 0; block < a->w.block_count; block++) {
		uint64_t said;

		if (!a->xattr_uses[block])
			continue;
		said = ONDISK_LE(a->w.disk + block * a->w.block_size, xattr_header, h_refcount);
		if (said != a->xattr_uses[block])
			audit_breach(a->audit,
				     "h_refcount is not the number of inodes with these attributes",
				     "block %llu: %llu, of %u", (unsigned long long)block,
				     (unsigned long long)said, a->xattr_uses[block]);
	}
	for (uint32_t i = 1; i <= a->w.inode_count; i++)
		if (a->inodes[i].used && a->inodes[i].is_ea && !a->inodes[i].ea_uses)
			audit_breach(a->audit, "an inode holds the value of no attribute",
				     "inode %u", i);
}
