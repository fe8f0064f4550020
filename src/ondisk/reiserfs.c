/* reiserfs.c -- where the structures of ReiserFS 3.5 and 3.6 lie.
 *
 * Superblock at 64 KiB, with the map of object ids behind it; a bitmap behind that and one at every
 * block that is a multiple of the bits in a block; the journal, which ends in its header; a tree of
 * keys, all else in the items of its leaves. There are no checksums. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/ondisk.h"
#include "ondisk/walk.h"

#define ONDISK_TABLE "ondisk/reiserfs.def"
#define ONDISK_NAME(tag) reiserfs_def_##tag
#include "ondisk/structures.h"
#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	REISER_SUPER_AT = 64 << 10,
	REISER_SUPER_SIZE = 204,
	REISER_SUPER_SIZE_V1 = 76, /* of 3.5 */
	REISER_BLOCK_MIN = 512,
	REISER_JOURNAL_HEADER_SIZE = 48,
	REISER_HEAD_SIZE = 24, /* of a block, and of an item */
	REISER_KEY_SIZE = 16,
	REISER_CHILD_SIZE = 8,
	REISER_ENTRY_SIZE = 16,
	REISER_SD_SIZE = 44,
	REISER_SD_SIZE_V1 = 32,
	REISER_HEIGHT_MAX = 5,
	REISER_ROOT = 2, /* object id of the root directory */
};

/* k_type */
enum reiser_type { REISER_SD, REISER_INDIRECT, REISER_DIRECT, REISER_DIR, REISER_ANY = 15 };

struct reiser_disk {
	struct ondisk_walk walk;
	uint32_t block; /* bytes */
	uint32_t blocks;
	uint32_t root, height;
	uint32_t journal, journal_blocks;
	uint32_t oids_at, oids;
	struct walk_set met; /* blocks of the tree */
};

/* An item of a leaf. */
struct reiser_item {
	uint32_t block, number;
	uint32_t objectid;
	enum reiser_type type;
	uint64_t at; /* of the body */
	uint32_t len, entries;
};

static bool reiser_recognises(const uint8_t *disk, uint64_t size)
{
	const uint8_t *magic = disk + REISER_SUPER_AT + 52;

	if (size < REISER_SUPER_AT + REISER_SUPER_SIZE)
		return false;
	return memcmp(magic, "ReIsErFs", 8) == 0 || memcmp(magic, "ReIsEr2Fs", 9) == 0 ||
	       memcmp(magic, "ReIsEr3Fs", 9) == 0;
}

static void reiser_read_super(struct reiser_disk *x)
{
	bool v1 = memcmp(x->walk.disk + REISER_SUPER_AT + 52, "ReIsErFs", 8) == 0;
	uint32_t size = v1 ? REISER_SUPER_SIZE_V1 : REISER_SUPER_SIZE;
	const uint8_t *p = walk_add(&x->walk, &reiserfs_def_reiserfs_super_block, REISER_SUPER_AT,
				    size, "superblock");

	if (!p)
		return;
	x->blocks = ONDISK_LE(p, reiserfs_super_block, s_block_count);
	x->root = ONDISK_LE(p, reiserfs_super_block, s_root_block);
	x->journal = ONDISK_LE(p, reiserfs_super_block, jp_journal_1st_block);
	x->journal_blocks = ONDISK_LE(p, reiserfs_super_block, jp_journal_size);
	x->block = ONDISK_LE(p, reiserfs_super_block, s_blocksize);
	x->oids_at = REISER_SUPER_AT + size;
	x->oids = ONDISK_LE(p, reiserfs_super_block, s_oid_cursize);
	x->height = ONDISK_LE(p, reiserfs_super_block, s_tree_height);
	if (x->block < REISER_BLOCK_MIN || (x->block & (x->block - 1)))
		walk_fail(&x->walk, "blocks of %u bytes", x->block);
	else if (x->blocks > x->walk.map->disk_size / x->block)
		walk_fail(&x->walk, "%u blocks do not fit", x->blocks);
	else if (x->height < 2 || x->height > REISER_HEIGHT_MAX + 1)
		walk_fail(&x->walk, "a tree of height %u", x->height);
}

static uint64_t reiser_at(const struct reiser_disk *x, uint64_t block)
{
	return block * x->block;
}

static void reiser_walk_oids(struct reiser_disk *x)
{
	for (uint32_t i = 0; i < x->oids && !x->walk.status; i++)
		walk_add(&x->walk, &reiserfs_def_objectid_map, x->oids_at + i * 4, 4,
			 "object id map[%u]", i);
}

static void reiser_walk_bitmaps(struct reiser_disk *x)
{
	uint64_t bits = (uint64_t)x->block * 8;

	for (uint64_t from = 0; from < x->blocks && !x->walk.status; from += bits) {
		uint64_t block = from ? from : REISER_SUPER_AT / x->block + 1;
		uint64_t left = x->blocks - from;
		char label[32];

		snprintf(label, sizeof(label), "bitmap %llu", (unsigned long long)(from / bits));
		walk_add_bitmap(&x->walk, &reiserfs_def_bitmap, &reiserfs_def_bitmap_edge,
				reiser_at(x, block), left < bits ? left : bits, label);
	}
}

/* ---- the journal ---- */

/* From descriptor or commit: the blocks that are logged, from the first on. */
static void reiser_walk_realblocks(struct reiser_disk *x, uint64_t at, uint32_t first,
				   uint32_t count, const char *label)
{
	for (uint32_t i = 0; i < count && !x->walk.status; i++)
		walk_add(&x->walk, &reiserfs_def_journal_realblock, at + i * 4, 4, "%s, block %u",
			 label, first + i);
}

/* The transaction that begins at a block of the journal, which is a ring. */
static void reiser_walk_transaction(struct reiser_disk *x, uint32_t desc)
{
	uint64_t at = reiser_at(x, (uint64_t)x->journal + desc), commit_at;
	const uint8_t *p = walk_read(&x->walk, at, x->block, "journal block");
	uint32_t half = (x->block - 24) / 4, len, id;
	char label[32];

	if (!p || memcmp(p + x->block - 12, "ReIsErLB", 8) != 0)
		return;
	id = ONDISK_LE(p, reiserfs_journal_desc, j_trans_id);
	len = ONDISK_LE(p, reiserfs_journal_desc, j_len);
	snprintf(label, sizeof(label), "transaction %u", id);
	/* What an older transaction left, and a newer one has begun to overwrite. */
	if (len == 0 || len >= x->journal_blocks || len > 2 * half)
		return;
	commit_at = reiser_at(x, x->journal + (desc + len + 1) % (uint64_t)x->journal_blocks);
	walk_add(&x->walk, &reiserfs_def_reiserfs_journal_desc, at, 12, "%s", label);
	walk_add(&x->walk, &reiserfs_def_journal_desc_magic, at + x->block - 12, 8, "%s", label);
	reiser_walk_realblocks(x, at + 12, 0, len < half ? len : half, label);
	p = walk_read(&x->walk, commit_at, x->block, "journal block");
	if (!p || ONDISK_LE(p, reiserfs_journal_commit, j_trans_id) != id ||
	    ONDISK_LE(p, reiserfs_journal_commit, j_len) != len)
		return;
	walk_add(&x->walk, &reiserfs_def_reiserfs_journal_commit, commit_at, 8, "%s", label);
	if (len > half)
		reiser_walk_realblocks(x, commit_at + 8, half, len - half, label);
}

static void reiser_walk_journal(struct reiser_disk *x)
{
	/* On another device, or none. */
	if (!x->journal_blocks || x->journal >= x->blocks ||
	    x->journal_blocks >= x->blocks - x->journal)
		return;
	walk_add(&x->walk, &reiserfs_def_reiserfs_journal_header,
		 reiser_at(x, (uint64_t)x->journal + x->journal_blocks), REISER_JOURNAL_HEADER_SIZE,
		 "journal header");
	for (uint32_t i = 0; i < x->journal_blocks && !x->walk.status; i++)
		reiser_walk_transaction(x, i);
}

/* ---- the tree ---- */

static enum reiser_type reiser_type_v1(uint32_t uniqueness)
{
	switch (uniqueness) {
	case 0:
		return REISER_SD;
	case 0xfffffffe:
		return REISER_INDIRECT;
	case 0xffffffff:
		return REISER_DIRECT;
	case 500:
		return REISER_DIR;
	default:
		return REISER_ANY;
	}
}

/* The version of a key is not written beside it: a type that version 2 has says so. */
static bool reiser_key_is_v1(const uint8_t *key)
{
	unsigned type = ONDISK_LE(key, reiserfs_key, k_type) >> 4;

	return type != REISER_INDIRECT && type != REISER_DIRECT && type != REISER_DIR;
}

static void reiser_walk_entries(struct reiser_disk *x, const struct reiser_item *item)
{
	uint32_t end = item->len;

	if (item->entries > item->len / REISER_ENTRY_SIZE) {
		walk_fail(&x->walk, "block %u has %u entries in %u bytes", item->block,
			  item->entries, item->len);
		return;
	}
	for (uint32_t i = 0; i < item->entries; i++) {
		uint64_t at = item->at + i * REISER_ENTRY_SIZE;
		const uint8_t *p = walk_read(&x->walk, at, REISER_ENTRY_SIZE, "directory entry");
		uint32_t from = p ? ONDISK_LE(p, reiserfs_de_head, deh_location) : 0;
		char name[WALK_PATH_MAX];

		if (!p)
			return;
		if (from >= end) {
			walk_fail(&x->walk, "block %u has a name at %u of %u", item->block, from,
				  end);
			return;
		}
		walk_path(name, "", x->walk.disk + item->at + from, end - from);
		walk_add(&x->walk, &reiserfs_def_reiserfs_de_head, at, REISER_ENTRY_SIZE,
			 "object %u, entry %s", item->objectid, name + 1);
		walk_add(&x->walk, &reiserfs_def_entry_name, item->at + from, end - from,
			 "object %u, name %s", item->objectid, name + 1);
		walk_name(&x->walk, ONDISK_LE(p, reiserfs_de_head, deh_objectid), item->objectid,
			  x->walk.disk + item->at + from, strlen(name + 1));
		end = from;
	}
}

static void reiser_walk_pointers(struct reiser_disk *x, const struct reiser_item *item)
{
	const uint8_t *p = walk_read(&x->walk, item->at, item->len, "indirect item");

	for (uint32_t i = 0; p && i + 4 <= item->len; i += 4)
		if (ondisk_le(p + i, 4) &&
		    !walk_add(&x->walk, &reiserfs_def_unfm_nodeinfo, item->at + i, 4,
			      "object %u, pointer %u, block %u, item %u", item->objectid, i / 4,
			      item->block, item->number))
			return;
}

static void reiser_walk_body(struct reiser_disk *x, const struct reiser_item *item)
{
	const struct ondisk_structure *sd = &reiserfs_def_stat_data;

	switch (item->type) {
	case REISER_SD:
		if (item->len == REISER_SD_SIZE_V1)
			sd = &reiserfs_def_stat_data_v1;
		walk_add(&x->walk, sd, item->at, item->len, "object %u, block %u, item %u",
			 item->objectid, item->block, item->number);
		break;
	case REISER_DIR:
		reiser_walk_entries(x, item);
		break;
	case REISER_INDIRECT:
		reiser_walk_pointers(x, item);
		break;
	case REISER_DIRECT:
		walk_add(&x->walk, &reiserfs_def_direct_item, item->at, item->len,
			 "object %u, block %u, item %u", item->objectid, item->block, item->number);
		break;
	case REISER_ANY:
		break;
	}
}

static void reiser_walk_item(struct reiser_disk *x, uint32_t block, uint32_t number)
{
	static const char *const types[REISER_ANY + 1] = { "stat data", "indirect", "direct",
							   "directory" };
	uint64_t at = reiser_at(x, block) + REISER_HEAD_SIZE + number * REISER_HEAD_SIZE;
	const uint8_t *p = walk_read(&x->walk, at, REISER_HEAD_SIZE, "item head");
	struct reiser_item item = { .block = block, .number = number };
	uint32_t location;
	bool v1;

	if (!p)
		return;
	v1 = ONDISK_LE(p, item_head, ih_version) == 0;
	item.objectid = ONDISK_LE(p, item_head, k_objectid);
	item.type = v1 ? reiser_type_v1(ONDISK_LE(p, item_head_v1, k_uniqueness))
		       : (enum reiser_type)(ONDISK_LE(p, item_head, k_type) >> 4);
	item.entries = ONDISK_LE(p, item_head_v1, ih_entry_count);
	item.len = ONDISK_LE(p, item_head, ih_item_len);
	location = ONDISK_LE(p, item_head, ih_item_location);
	item.at = reiser_at(x, block) + location;
	if (location + item.len > x->block) {
		walk_fail(&x->walk, "item %u of block %u ends behind it", number, block);
		return;
	}
	walk_add(&x->walk, v1 ? &reiserfs_def_item_head_v1 : &reiserfs_def_item_head, at,
		 REISER_HEAD_SIZE, "object %u, head of %s, block %u, item %u", item.objectid,
		 types[item.type] ? types[item.type] : "other", block, number);
	reiser_walk_body(x, &item);
}

static void reiser_walk_block(struct reiser_disk *x, uint32_t block, uint32_t level);

static void reiser_walk_node(struct reiser_disk *x, uint32_t block, uint32_t level, uint32_t items)
{
	uint64_t keys_at = reiser_at(x, block) + REISER_HEAD_SIZE;
	uint64_t children_at = keys_at + items * REISER_KEY_SIZE;

	for (uint32_t i = 0; i < items; i++) {
		uint64_t at = keys_at + i * REISER_KEY_SIZE;
		const uint8_t *p = walk_read(&x->walk, at, REISER_KEY_SIZE, "key");

		if (!p)
			return;
		walk_add(&x->walk,
			 reiser_key_is_v1(p) ? &reiserfs_def_reiserfs_key_v1
					     : &reiserfs_def_reiserfs_key,
			 at, REISER_KEY_SIZE, "block %u, key %u", block, i);
	}
	for (uint32_t i = 0; i <= items; i++) {
		const uint8_t *p = walk_add(&x->walk, &reiserfs_def_disk_child,
					    children_at + i * REISER_CHILD_SIZE, REISER_CHILD_SIZE,
					    "block %u, child %u", block, i);

		if (!p)
			return;
		reiser_walk_block(x, ONDISK_LE(p, disk_child, dc_block_number), level - 1);
	}
}

/* Leaves have level 1. */
static void reiser_walk_block(struct reiser_disk *x, uint32_t block, uint32_t level)
{
	uint64_t at = reiser_at(x, block);
	const uint8_t *p;
	uint32_t items, found;

	if (!walk_set_add(&x->walk, &x->met, block, "block"))
		return;
	p = walk_add(&x->walk, &reiserfs_def_block_head, at, REISER_HEAD_SIZE, "block %u, level %u",
		     block, level);
	if (!p)
		return;
	items = ONDISK_LE(p, block_head, blk_nr_item);
	found = ONDISK_LE(p, block_head, blk_level);
	if (found != level)
		walk_fail(&x->walk, "block %u has level %u instead of %u", block, found, level);
	else if (items > x->block / REISER_HEAD_SIZE)
		walk_fail(&x->walk, "block %u has %u items", block, items);
	else if (level > 1)
		reiser_walk_node(x, block, level, items);
	else
		for (uint32_t i = 0; i < items; i++)
			reiser_walk_item(x, block, i);
}

static int reiser_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct reiser_disk x = { .walk = { .map = m, .disk = disk, .err = err } };

	reiser_read_super(&x);
	if (x.walk.status)
		return x.walk.status;
	walk_set_make(&x.walk, &x.met, x.blocks, "blocks");
	m->block_size = x.block;
	reiser_walk_oids(&x);
	reiser_walk_bitmaps(&x);
	reiser_walk_journal(&x);
	reiser_walk_block(&x, x.root, x.height - 1);
	walk_apply_names(&x.walk, "object ", REISER_ROOT);
	walk_set_free(&x.met);
	return x.walk.status;
}

const struct ondisk_format ondisk_reiserfs = {
	.name = "reiserfs",
	.structures = reiserfs_def_structures,
	.structure_count = ARRAY_LEN(reiserfs_def_structures),
	.recognises = reiser_recognises,
	.walk = reiser_walk,
};
