/* ext_audit_dir.c -- the rules of directories and of links. */
#include <string.h>
#include <sys/stat.h>

#include "audit/ext_audit_htree.h"
#include "audit/names.h"
#include "base/must.h"

enum {
	ENTRY_LEN = 8, /* without its name */
	TAIL_LEN = 12,
	TAIL_TYPE = 0xde,
	INLINE_PARENT_LEN = 4,
	LINKS_MAX = 65000,
	DIR_BLOCKS_MAX = 1 << 20,
};

/* One directory, and the names it has. */
struct ext_audit_dir {
	struct ext_audit *a;
	struct ext_file f;
	struct audit_names names;
	struct ext_audit_htree index;
	uint32_t block; /* of the directory, whose entries are looked at */
	bool inline_data;
};

static uint8_t ext_audit_type(uint16_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return 1;
	case S_IFDIR:
		return 2;
	case S_IFCHR:
		return 3;
	case S_IFBLK:
		return 4;
	case S_IFIFO:
		return 5;
	case S_IFSOCK:
		return 6;
	case S_IFLNK:
		return 7;
	default:
		return 0;
	}
}

static bool ext_audit_is_tail(const uint8_t *e)
{
	return !ondisk_le(e, 4) && ondisk_le(e + 4, 2) == TAIL_LEN && !e[6] && e[7] == TAIL_TYPE;
}

static void ext_audit_name(struct ext_audit_dir *d, const uint8_t *name, size_t len)
{
	if (memchr(name, '/', len) || memchr(name, 0, len) || !len)
		audit_breach(d->a->audit, "a name has a character that it cannot have",
			     "directory %u", d->f.number);
	if (len && len <= 2 && !memcmp(name, "..", len))
		audit_breach(d->a->audit, "a directory has \".\" or \"..\" twice", "directory %u",
			     d->f.number);
	audit_names_add(&d->names, name, len);
}

/* What is named must be in use, and have the type that the entry says. */
static void ext_audit_named(struct ext_audit_dir *d, const uint8_t *e, uint32_t number)
{
	struct ext_audit_inode *i = number <= d->a->w.inode_count ? &d->a->inodes[number] : NULL;
	uint8_t type = e[dir_entry_file_type_AT];

	if (i && i->is_ea) {
		audit_breach(d->a->audit, "an entry leads to the value of an attribute",
			     "directory %u: inode %u", d->f.number, number);
		return;
	}
	if (!i || !i->used) {
		audit_breach(d->a->audit, "an entry leads to an inode that is not in use",
			     "directory %u: inode %u", d->f.number, number);
		return;
	}
	i->names++;
	if (type != (d->a->has_types ? ext_audit_type(i->mode) : 0))
		audit_breach(d->a->audit, "the file type in an entry is not that of the inode",
			     "directory %u: %u, inode %u", d->f.number, type, number);
}

static void ext_audit_child(struct ext_audit_dir *d, uint32_t number)
{
	struct ext_audit_inode *i = number <= d->a->w.inode_count ? &d->a->inodes[number] : NULL;

	if (!i || !S_ISDIR(i->mode))
		return;
	if (i->parent || number == EXT_AUDIT_ROOT)
		audit_breach(d->a->audit, "a directory has two names", "inode %u", number);
	i->parent = d->f.number;
}

/* place: 0 and 1 are "." and "..", where a directory has them as entries. */
static void ext_audit_entry(struct ext_audit_dir *d, const uint8_t *e, unsigned place)
{
	uint32_t number = ONDISK_LE(e, dir_entry, inode);
	uint8_t len = e[dir_entry_name_len_AT];
	const uint8_t *name = e + ENTRY_LEN;

	if (place < 2 && (len != place + 1 || memcmp(name, "..", len) != 0 || !number ||
			  (!place && number != d->f.number))) {
		audit_breach(d->a->audit, "a directory does not begin with \".\" and \"..\"",
			     "directory %u", d->f.number);
		return;
	}
	if (!number)
		return;
	ext_audit_named(d, e, number);
	if (place == 1)
		d->a->inodes[d->f.number].dot_dot = number;
	if (place < 2)
		return;
	ext_audit_name(d, name, len);
	ext_audit_htree_name(&d->index, d->block, name, len);
	ext_audit_child(d, number);
}

static void ext_audit_entries_of(struct ext_audit_dir *d, const uint8_t *p, uint32_t len,
				 bool first)
{
	unsigned place = first ? 0 : 2;
	uint32_t rec_len;

	for (uint32_t at = 0; at < len; at += rec_len) {
		const uint8_t *e = p + at;

		rec_len = len - at >= ENTRY_LEN ? ONDISK_LE(e, dir_entry, rec_len) : 0;
		if (d->a->w.block_size >= 65536 && (rec_len == 65535 || !rec_len))
			rec_len = 65536;
		if (len - at == TAIL_LEN && !d->inline_data && ext_audit_is_tail(e))
			return;
		if (rec_len < ENTRY_LEN || rec_len % 4 || rec_len > len - at ||
		    (ONDISK_LE(e, dir_entry, inode) &&
		     rec_len < ENTRY_LEN + (uint32_t)e[dir_entry_name_len_AT])) {
			audit_breach(d->a->audit, "the length of an entry cannot be",
				     "directory %u: rec_len %u", d->f.number, rec_len);
			return;
		}
		ext_audit_entry(d, e, place);
		place += place < 2;
	}
}

static void ext_audit_inline_dir(struct ext_audit_dir *d)
{
	const uint8_t *p = d->f.inode + inode_block_i_block_0_AT;
	uint32_t parent = ondisk_le(p, INLINE_PARENT_LEN), len;
	uint64_t rest = 0;

	d->inline_data = true;
	d->a->inodes[d->f.number].names++; /* "." */
	d->a->inodes[d->f.number].dot_dot = parent;
	if (parent <= d->a->w.inode_count)
		d->a->inodes[parent].names++;
	ext_audit_entries_of(d, p + INLINE_PARENT_LEN, EXT_BLOCK_POINTERS_LEN - INLINE_PARENT_LEN,
			     false);
	len = ext_inline_rest(&d->a->w, &d->f, &rest);
	if (len)
		ext_audit_entries_of(d, d->a->w.disk + rest, len, false);
}

static void ext_audit_dir_blocks(struct ext_audit_dir *d)
{
	uint64_t blocks = d->f.size / d->a->w.block_size;

	blocks = blocks < DIR_BLOCKS_MAX ? blocks : DIR_BLOCKS_MAX;
	ext_audit_htree_open(&d->index, d->a, &d->f, blocks);
	for (uint32_t i = 0; i < blocks; i++) {
		uint64_t block = ext_file_block(&d->f, i);
		const uint8_t *p = block ? ext_block(&d->a->w, block) : NULL;

		if (!p) {
			audit_breach(d->a->audit, "a directory has a hole",
				     "directory %u, block %u", d->f.number, i);
			return;
		}
		d->block = i;
		ext_audit_entries_of(d, p, d->a->w.block_size, !i);
	}
}

static void ext_audit_dir(struct ext_audit *a, uint32_t number)
{
	struct ext_audit_dir d = { .a = a };

	if (ext_file_open(&a->w, &d.f, number))
		return;
	if (d.f.flags & EXT_INLINE_DATA_FL)
		ext_audit_inline_dir(&d);
	else if (!ext_file_blocks(&a->w, &d.f))
		ext_audit_dir_blocks(&d);
	if (audit_names_twice(&d.names))
		audit_breach(a->audit, "a directory has a name twice", "directory %u", number);
	ext_audit_htree_close(&d.index);
	audit_names_free(&d.names);
	ext_file_close(&d.f);
}

/* Whether the way up ends at the root. */
static bool ext_audit_is_below_root(const struct ext_audit *a, uint32_t number)
{
	for (uint32_t i = 0; i <= a->w.inode_count && number; i++) {
		if (number == EXT_AUDIT_ROOT)
			return true;
		number = a->inodes[number].parent;
	}
	return false;
}

static void ext_audit_links(struct ext_audit *a, uint32_t number)
{
	const struct ext_audit_inode *i = &a->inodes[number];
	uint32_t links = S_ISDIR(i->mode) && i->names > LINKS_MAX ? 1 : i->names;

	if (!i->names || (S_ISDIR(i->mode) && !ext_audit_is_below_root(a, number)))
		audit_breach(a->audit, "an inode in use has no name", "inode %u", number);
	else if (i->links != links)
		audit_breach(a->audit, "the number of links is not that of names",
			     "inode %u: %u, of %u", number, i->links, links);
	if (S_ISDIR(i->mode) && number != EXT_AUDIT_ROOT && i->dot_dot != i->parent)
		audit_breach(a->audit, "\"..\" does not lead to the parent", "inode %u: %u, not %u",
			     number, i->dot_dot, i->parent);
}

void ext_audit_tree(struct ext_audit *a)
{
	if (!a->inodes[EXT_AUDIT_ROOT].used || !S_ISDIR(a->inodes[EXT_AUDIT_ROOT].mode))
		audit_breach(a->audit, "there is no root directory", "inode %u", EXT_AUDIT_ROOT);
	for (uint32_t i = 1; i <= a->w.inode_count; i++)
		if (a->inodes[i].used && S_ISDIR(a->inodes[i].mode))
			ext_audit_dir(a, i);
	for (uint32_t i = 1; i <= a->w.inode_count; i++)
		if (a->inodes[i].used && !a->inodes[i].is_ea)
			ext_audit_links(a, i);
}
