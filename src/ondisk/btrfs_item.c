/* btrfs_item.c -- items of the trees of btrfs, by their type. */
#include <stdio.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/btrfs.h"

enum {
	BTRFS_INODE_SIZE = 160,
	BTRFS_INLINE_AT = 21, /* content of a file in its item */
	BTRFS_EXTENT_SIZE = 24,
	BTRFS_BLOCK_INFO_SIZE = 18,
	BTRFS_REF_SIZE = 9,
	BTRFS_DATA_REF_SIZE = 28,
	BTRFS_EXTENT_IS_BLOCK = 2, /* flag of an extent */
	BTRFS_DIR_SIZE = 30,       /* of an entry, before the name */
};

/* Types of items, in keys. */
enum {
	BTRFS_FREE_SPACE_HEADER = 0,
	BTRFS_INODE_ITEM = 1,
	BTRFS_INODE_REF = 12,
	BTRFS_INODE_EXTREF = 13,
	BTRFS_XATTR_ITEM = 24,
	BTRFS_DIR_ITEM = 84,
	BTRFS_DIR_INDEX = 96,
	BTRFS_EXTENT_DATA = 108,
	BTRFS_EXTENT_CSUM = 128,
	BTRFS_ROOT_ITEM = 132,
	BTRFS_ROOT_BACKREF = 144,
	BTRFS_ROOT_REF = 156,
	BTRFS_EXTENT_ITEM = 168,
	BTRFS_METADATA_ITEM = 169,
	BTRFS_TREE_BLOCK_REF = 176,
	BTRFS_EXTENT_DATA_REF = 178,
	BTRFS_SHARED_BLOCK_REF = 182,
	BTRFS_SHARED_DATA_REF = 184,
	BTRFS_BLOCK_GROUP = 192,
	BTRFS_FREE_SPACE_INFO = 198,
	BTRFS_FREE_SPACE_BITMAP = 200,
	BTRFS_DEV_EXTENT = 204,
	BTRFS_DEV_ITEM = 216,
	BTRFS_CHUNK_ITEM = 228,
	BTRFS_DEV_STATS = 249,
	BTRFS_UUID_SUBVOL = 251,
};

/* What an item holds. */
struct btrfs_body {
	unsigned long long tree;
	uint64_t objectid, offset; /* of the key */
	uint8_t type;
	uint64_t at;
	uint32_t len;
	const uint8_t *bytes;
	char label[48];
};

/* Items that are one structure. */
static const struct ondisk_structure *btrfs_plain(uint8_t type)
{
	switch (type) {
	case BTRFS_FREE_SPACE_HEADER:
		return &btrfs_def_free_space_header;
	case BTRFS_INODE_ITEM:
		return &btrfs_def_inode_item;
	case BTRFS_ROOT_BACKREF:
	case BTRFS_ROOT_REF:
		return &btrfs_def_root_ref;
	case BTRFS_EXTENT_DATA_REF:
		return &btrfs_def_extent_data_ref;
	case BTRFS_SHARED_DATA_REF:
		return &btrfs_def_shared_data_ref;
	case BTRFS_BLOCK_GROUP:
		return &btrfs_def_block_group;
	case BTRFS_FREE_SPACE_INFO:
		return &btrfs_def_free_space_info;
	case BTRFS_FREE_SPACE_BITMAP:
		return &btrfs_def_free_space_bitmap;
	case BTRFS_DEV_EXTENT:
		return &btrfs_def_dev_extent;
	case BTRFS_DEV_ITEM:
		return &btrfs_def_dev_item;
	case BTRFS_DEV_STATS:
		return &btrfs_def_dev_stats;
	case BTRFS_UUID_SUBVOL:
		return &btrfs_def_uuid_item;
	case BTRFS_EXTENT_CSUM:
		return &btrfs_def_extent_csum;
	default:
		return NULL;
	}
}

/* Several names can have one hash, and one inode several names in a directory. */
static void btrfs_walk_dir_items(struct btrfs_disk *x, const struct btrfs_body *b)
{
	for (uint32_t i = 0; i + BTRFS_DIR_SIZE <= b->len && !x->walk.status;) {
		const uint8_t *p = b->bytes + i;
		uint32_t name = ONDISK_LE(p, dir_item, name_len);
		uint32_t size = BTRFS_DIR_SIZE + name + (uint32_t)ONDISK_LE(p, dir_item, data_len);

		if (size > b->len - i) {
			walk_fail(&x->walk, "%s: a name of %u bytes", b->label, name);
			return;
		}
		walk_add(&x->walk, &btrfs_def_dir_item, b->at + i, BTRFS_DIR_SIZE + name, "%s %.*s",
			 b->label, (int)name, (const char *)p + BTRFS_DIR_SIZE);
		if (b->tree == BTRFS_FS_TREE && b->type == BTRFS_DIR_INDEX)
			walk_name(&x->walk, ONDISK_LE(p, dir_item, location_objectid), b->objectid,
				  p + BTRFS_DIR_SIZE, name);
		i += size;
	}
}

static void btrfs_walk_refs(struct btrfs_disk *x, const struct btrfs_body *b)
{
	bool extended = b->type == BTRFS_INODE_EXTREF;
	uint32_t head = extended ? 18 : 10;

	for (uint32_t i = 0; i + head <= b->len && !x->walk.status;) {
		const uint8_t *p = b->bytes + i;
		uint32_t name = extended ? ONDISK_LE(p, inode_extref, name_len)
					 : ONDISK_LE(p, inode_ref, name_len);

		if (name > b->len - i - head) {
			walk_fail(&x->walk, "%s: a name of %u bytes", b->label, name);
			return;
		}
		walk_add(&x->walk, extended ? &btrfs_def_inode_extref : &btrfs_def_inode_ref,
			 b->at + i, head + name, "%s", b->label);
		i += head + name;
	}
}

static void btrfs_walk_extent_data(struct btrfs_disk *x, const struct btrfs_body *b)
{
	bool is_inline = b->len > extent_data_type_AT && !ONDISK_LE(b->bytes, extent_data, type);

	walk_add(&x->walk, &btrfs_def_extent_data, b->at, is_inline ? BTRFS_INLINE_AT : b->len,
		 "%s", b->label);
	if (is_inline && b->len > BTRFS_INLINE_AT)
		walk_add(&x->walk, &btrfs_def_inline_data, b->at + BTRFS_INLINE_AT,
			 b->len - BTRFS_INLINE_AT, "%s", b->label);
}

/* Who refers to an extent, behind its item. */
static void btrfs_walk_inline_refs(struct btrfs_disk *x, const struct btrfs_body *b, uint32_t from)
{
	for (uint32_t i = from; i + BTRFS_REF_SIZE <= b->len && !x->walk.status;) {
		uint64_t type = ONDISK_LE(b->bytes + i, extent_inline_ref, type);
		uint32_t ref = type == BTRFS_EXTENT_DATA_REF ? 1 : BTRFS_REF_SIZE;

		walk_add(&x->walk, &btrfs_def_extent_inline_ref, b->at + i, ref, "%s", b->label);
		i += ref;
		if (type == BTRFS_EXTENT_DATA_REF) {
			walk_add(&x->walk, &btrfs_def_extent_data_ref, b->at + i,
				 BTRFS_DATA_REF_SIZE, "%s", b->label);
			i += BTRFS_DATA_REF_SIZE;
		} else if (type == BTRFS_SHARED_DATA_REF) {
			walk_add(&x->walk, &btrfs_def_shared_data_ref, b->at + i, 4, "%s",
				 b->label);
			i += 4;
		}
	}
}

static void btrfs_walk_extent(struct btrfs_disk *x, const struct btrfs_body *b)
{
	const uint8_t *p = walk_add(&x->walk, &btrfs_def_extent_item, b->at, BTRFS_EXTENT_SIZE,
				    "%s", b->label);
	uint32_t from = BTRFS_EXTENT_SIZE;

	if (!p || b->len < BTRFS_EXTENT_SIZE)
		return;
	if (b->type == BTRFS_EXTENT_ITEM &&
	    ONDISK_LE(p, extent_item, flags) & BTRFS_EXTENT_IS_BLOCK) {
		walk_add(&x->walk, &btrfs_def_tree_block_info, b->at + from, BTRFS_BLOCK_INFO_SIZE,
			 "%s", b->label);
		from += BTRFS_BLOCK_INFO_SIZE;
	}
	btrfs_walk_inline_refs(x, b, from);
}

static void btrfs_walk_root_item(struct btrfs_disk *x, const struct btrfs_body *b)
{
	walk_add(&x->walk, &btrfs_def_root_item, b->at, b->len, "%s", b->label);
	walk_add(&x->walk, &btrfs_def_inode_item, b->at, BTRFS_INODE_SIZE, "%s, inode", b->label);
	if (b->len <= root_item_level_AT)
		walk_fail(&x->walk, "%s has %u bytes", b->label, b->len);
	else if (b->tree == BTRFS_ROOT_TREE || b->tree == BTRFS_LOG_TREE)
		btrfs_walk_tree(x, b->objectid, ONDISK_LE(b->bytes, root_item, bytenr),
				ONDISK_LE(b->bytes, root_item, level));
}

uint32_t btrfs_walk_chunk(struct btrfs_disk *x, uint64_t at, uint32_t room, const char *label)
{
	const uint8_t *p = walk_add(&x->walk, &btrfs_def_chunk, at, BTRFS_CHUNK_SIZE, "%s", label);
	uint32_t stripes = p ? (uint32_t)ONDISK_LE(p, chunk, num_stripes) : 0;
	uint32_t size = BTRFS_CHUNK_SIZE + stripes * BTRFS_STRIPE_SIZE;

	if (!p)
		return size;
	if (size > room)
		walk_fail(&x->walk, "a chunk with %u stripes in %u bytes", stripes, room);
	for (uint32_t i = 0; i < stripes && !x->walk.status; i++)
		walk_add(&x->walk, &btrfs_def_stripe, at + BTRFS_CHUNK_SIZE + i * BTRFS_STRIPE_SIZE,
			 BTRFS_STRIPE_SIZE, "%s, stripe %u", label, i);
	return size;
}

static void btrfs_walk_body(struct btrfs_disk *x, const struct btrfs_body *b)
{
	const struct ondisk_structure *plain = btrfs_plain(b->type);

	switch (b->type) {
	case BTRFS_XATTR_ITEM:
	case BTRFS_DIR_ITEM:
	case BTRFS_DIR_INDEX:
		btrfs_walk_dir_items(x, b);
		break;
	case BTRFS_INODE_REF:
	case BTRFS_INODE_EXTREF:
		btrfs_walk_refs(x, b);
		break;
	case BTRFS_EXTENT_DATA:
		btrfs_walk_extent_data(x, b);
		break;
	case BTRFS_EXTENT_ITEM:
	case BTRFS_METADATA_ITEM:
		btrfs_walk_extent(x, b);
		break;
	case BTRFS_ROOT_ITEM:
		btrfs_walk_root_item(x, b);
		break;
	case BTRFS_CHUNK_ITEM:
		btrfs_map_chunk(x, b->offset, b->bytes,
				btrfs_walk_chunk(x, b->at, b->len, b->label));
		break;
	default:
		if (plain && b->len)
			walk_add(&x->walk, plain, b->at, b->len, "%s", b->label);
	}
}

static const char *btrfs_type_name(uint8_t type, char room[16])
{
	static const char *const names[256] = {
		[BTRFS_INODE_ITEM] = "INODE_ITEM",       [BTRFS_INODE_REF] = "INODE_REF",
		[BTRFS_INODE_EXTREF] = "INODE_EXTREF",   [BTRFS_XATTR_ITEM] = "XATTR_ITEM",
		[BTRFS_DIR_ITEM] = "DIR_ITEM",           [BTRFS_DIR_INDEX] = "DIR_INDEX",
		[BTRFS_EXTENT_DATA] = "EXTENT_DATA",     [BTRFS_EXTENT_CSUM] = "EXTENT_CSUM",
		[BTRFS_ROOT_ITEM] = "ROOT_ITEM",         [BTRFS_ROOT_BACKREF] = "ROOT_BACKREF",
		[BTRFS_ROOT_REF] = "ROOT_REF",           [BTRFS_EXTENT_ITEM] = "EXTENT_ITEM",
		[BTRFS_METADATA_ITEM] = "METADATA_ITEM", [BTRFS_BLOCK_GROUP] = "BLOCK_GROUP_ITEM",
		[BTRFS_DEV_EXTENT] = "DEV_EXTENT",       [BTRFS_DEV_ITEM] = "DEV_ITEM",
		[BTRFS_CHUNK_ITEM] = "CHUNK_ITEM",
	};

	if (names[type])
		return names[type];
	snprintf(room, 16, "type %u", type);
	return room;
}

void btrfs_walk_item(struct btrfs_disk *x, unsigned long long tree, uint64_t at, uint32_t i)
{
	uint64_t item_at = at + BTRFS_HEADER_SIZE + i * BTRFS_ITEM_SIZE;
	const uint8_t *p = walk_read(&x->walk, item_at, BTRFS_ITEM_SIZE, "item");
	struct btrfs_body b = { .tree = tree };
	uint64_t offset;
	char room[16];

	if (!p)
		return;
	b.objectid = ONDISK_LE(p, item, key_objectid);
	b.type = ONDISK_LE(p, item, key_type);
	b.offset = ONDISK_LE(p, item, key_offset);
	offset = ONDISK_LE(p, item, offset);
	b.len = ONDISK_LE(p, item, size);
	if (offset + b.len > x->node - BTRFS_HEADER_SIZE) {
		walk_fail(&x->walk, "an item of tree %llu ends behind its block", tree);
		return;
	}
	b.at = at + BTRFS_HEADER_SIZE + offset;
	b.bytes = x->walk.disk + b.at;
	if (tree == BTRFS_FS_TREE)
		snprintf(b.label, sizeof(b.label), "inode %llu, %s %llu",
			 (unsigned long long)b.objectid, btrfs_type_name(b.type, room),
			 (unsigned long long)b.offset);
	else
		snprintf(b.label, sizeof(b.label), "tree %llu, %llu %s %llu", tree,
			 (unsigned long long)b.objectid, btrfs_type_name(b.type, room),
			 (unsigned long long)b.offset);
	walk_add(&x->walk, &btrfs_def_item, item_at, BTRFS_ITEM_SIZE, "%s", b.label);
	btrfs_walk_body(x, &b);
}
