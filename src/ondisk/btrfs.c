/* btrfs.c -- where the structures of btrfs lie, on one device: superblocks, the chunks that say
 * where logical addresses are, all trees, their items (btrfs_item.c).
 *
 * A checksum is the CRC-32C of a superblock or of a block of a tree, behind the checksum itself.
 * Other checksums than CRC-32C are not described. Of a block that has copies, the first is walked,
 * and of the others only the header is an instance. */
#include <string.h>

#include "base/err.h"
#include "base/must.h"
#include "ondisk/btrfs.h"
#include "ondisk/crc.h"

#define ONDISK_DEFINE
#include "ondisk/structures.h"

enum {
	BTRFS_SUPER_AT = 64 << 10,
	BTRFS_SUPER_SIZE = 4096,
	BTRFS_CHUNKS_AT = 0x32b, /* in a superblock */
	BTRFS_CHUNKS_SIZE = 2048,
	BTRFS_BACKUPS_AT = 0xb2b,
	BTRFS_BACKUPS = 4,
	BTRFS_BACKUP_SIZE = 168,
	BTRFS_DEV_AT = 0xc9,
	BTRFS_CSUM = 32, /* room of a checksum, before what it covers */
	BTRFS_PTR_SIZE = 33,
	BTRFS_LEVELS = 8,
	BTRFS_UNIT = 4096, /* blocks are multiples of it */
};

enum btrfs_checksum { BTRFS_CRC = 1 }; /* of: where the checksum is */

static bool btrfs_recognises(const uint8_t *disk, uint64_t size)
{
	return size >= BTRFS_SUPER_AT + BTRFS_SUPER_SIZE &&
	       memcmp(disk + BTRFS_SUPER_AT + super_magic_AT, "_BHRfS_M", super_magic_LEN) == 0;
}

static void btrfs_cover(struct btrfs_disk *x, uint64_t at, uint32_t len)
{
	if (walk_read(&x->walk, at, len, "block"))
		ondisk_cover(x->walk.map, (struct ondisk_cover){ .at = at + BTRFS_CSUM,
								 .len = len - BTRFS_CSUM,
								 .kind = BTRFS_CRC,
								 .of = at });
}

/* ---- where logical addresses are ---- */

void btrfs_map_chunk(struct btrfs_disk *x, uint64_t logical, const uint8_t *chunk, uint32_t len)
{
	uint64_t stripes = ONDISK_LE(chunk, chunk, num_stripes);
	struct btrfs_mapping *m;

	for (size_t i = 0; i < x->mapping_count; i++)
		if (x->mappings[i].logical == logical)
			return;
	if (stripes < 1 || stripes > BTRFS_COPIES_MAX || x->mapping_count >= BTRFS_MAPPINGS_MAX ||
	    len < BTRFS_CHUNK_SIZE + stripes * BTRFS_STRIPE_SIZE) {
		walk_fail(&x->walk, "a chunk with %llu stripes", (unsigned long long)stripes);
		return;
	}
	m = &x->mappings[x->mapping_count++];
	*m = (struct btrfs_mapping){ .logical = logical,
				     .len = ONDISK_LE(chunk, chunk, length),
				     .copies = stripes };
	for (unsigned i = 0; i < stripes; i++)
		m->at[i] =
			ONDISK_LE(chunk + BTRFS_CHUNK_SIZE + i * BTRFS_STRIPE_SIZE, stripe, offset);
}

/* NULL: no chunk has it. */
static const struct btrfs_mapping *btrfs_mapping(const struct btrfs_disk *x, uint64_t logical)
{
	for (size_t i = 0; i < x->mapping_count; i++)
		if (logical - x->mappings[i].logical < x->mappings[i].len)
			return &x->mappings[i];
	return NULL;
}

/* ---- superblocks ---- */

static void btrfs_walk_super_chunks(struct btrfs_disk *x, uint64_t at, uint32_t len,
				    const char *label)
{
	for (uint32_t i = 0; i < len && !x->walk.status;) {
		const uint8_t *p = walk_add(&x->walk, &btrfs_def_disk_key, at + i, BTRFS_KEY_SIZE,
					    "%s", label);
		uint32_t left = len - i > BTRFS_KEY_SIZE ? len - i - BTRFS_KEY_SIZE : 0, size;

		if (!p)
			return;
		size = btrfs_walk_chunk(x, at + i + BTRFS_KEY_SIZE, left, label);
		btrfs_map_chunk(x, ONDISK_LE(p, disk_key, offset), p + BTRFS_KEY_SIZE, size);
		i += BTRFS_KEY_SIZE + size;
	}
}

static void btrfs_walk_super(struct btrfs_disk *x, uint64_t at, const char *label)
{
	const uint8_t *p = walk_add(&x->walk, &btrfs_def_super, at, BTRFS_SUPER_SIZE, "%s", label);
	uint32_t chunks = p ? (uint32_t)ONDISK_LE(p, super, sys_chunk_array_size) : 0;

	if (!p)
		return;
	btrfs_cover(x, at, BTRFS_SUPER_SIZE);
	walk_add(&x->walk, &btrfs_def_dev_item, at + BTRFS_DEV_AT, BTRFS_DEV_SIZE, "%s", label);
	for (unsigned i = 0; i < BTRFS_BACKUPS; i++)
		walk_add(&x->walk, &btrfs_def_root_backup,
			 at + BTRFS_BACKUPS_AT + i * BTRFS_BACKUP_SIZE, BTRFS_BACKUP_SIZE,
			 "%s, older root %u", label, i);
	if (chunks > BTRFS_CHUNKS_SIZE)
		walk_fail(&x->walk, "%u bytes of chunks in the superblock", chunks);
	btrfs_walk_super_chunks(x, at + BTRFS_CHUNKS_AT, chunks, label);
}

static void btrfs_walk_supers(struct btrfs_disk *x)
{
	static const uint64_t copies[] = { 64ULL << 20, 256ULL << 30 };

	btrfs_walk_super(x, BTRFS_SUPER_AT, "superblock");
	for (size_t i = 0; i < ARRAY_LEN(copies); i++)
		if (x->walk.map->disk_size >= copies[i] + BTRFS_SUPER_SIZE)
			btrfs_walk_super(x, copies[i],
					 i ? "superblock, copy 2" : "superblock, copy 1");
}

static void btrfs_read_super(struct btrfs_disk *x, const uint8_t *p)
{
	x->node = ONDISK_LE(p, super, nodesize);
	if (ONDISK_LE(p, super, csum_type) != 0 || ONDISK_LE(p, super, num_devices) != 1)
		walk_fail(&x->walk, "only CRC-32C and one device are described");
	else if (x->node < 4096 || x->node > 64 << 10 || (x->node & (x->node - 1)))
		walk_fail(&x->walk, "nodes of %u bytes", x->node);
}

/* ---- trees ---- */

static void btrfs_walk_block(struct btrfs_disk *x, unsigned long long tree, uint64_t logical,
			     unsigned level);

static void btrfs_walk_pointers(struct btrfs_disk *x, unsigned long long tree, uint64_t at,
				uint32_t count, unsigned level)
{
	if (count > (x->node - BTRFS_HEADER_SIZE) / BTRFS_PTR_SIZE)
		walk_fail(&x->walk, "tree %llu has a node with %u pointers", tree, count);
	for (uint32_t i = 0; i < count && !x->walk.status; i++) {
		const uint8_t *p =
			walk_add(&x->walk, &btrfs_def_key_ptr,
				 at + BTRFS_HEADER_SIZE + i * BTRFS_PTR_SIZE, BTRFS_PTR_SIZE,
				 "tree %llu, level %u, pointer %u", tree, level, i);

		if (p)
			btrfs_walk_block(x, tree, ONDISK_LE(p, key_ptr, blockptr), level - 1);
	}
}

static void btrfs_walk_leaf(struct btrfs_disk *x, unsigned long long tree, uint64_t at,
			    uint32_t count)
{
	if (count > (x->node - BTRFS_HEADER_SIZE) / BTRFS_ITEM_SIZE)
		walk_fail(&x->walk, "tree %llu has a leaf with %u items", tree, count);
	for (uint32_t i = 0; i < count && !x->walk.status; i++)
		btrfs_walk_item(x, tree, at, i);
}

static void btrfs_walk_block(struct btrfs_disk *x, unsigned long long tree, uint64_t logical,
			     unsigned level)
{
	const struct btrfs_mapping *m = btrfs_mapping(x, logical);
	uint64_t within = m ? logical - m->logical : 0;
	const uint8_t *p;
	uint32_t count;

	if (!m)
		walk_fail(&x->walk, "tree %llu has a block at %llu, which no chunk has", tree,
			  (unsigned long long)logical);
	p = m ? walk_read(&x->walk, m->at[0] + within, x->node, "block") : NULL;
	if (!p || !walk_set_add(&x->walk, &x->met, (m->at[0] + within) / BTRFS_UNIT, "block"))
		return;
	for (unsigned i = 0; i < m->copies; i++) {
		walk_add(&x->walk, &btrfs_def_header, m->at[i] + within, BTRFS_HEADER_SIZE,
			 "tree %llu, level %u, block %llu, copy %u", tree, level,
			 (unsigned long long)logical, i + 1);
		btrfs_cover(x, m->at[i] + within, x->node);
	}
	count = ONDISK_LE(p, header, nritems);
	if (ONDISK_LE(p, header, level) != level)
		walk_fail(&x->walk, "tree %llu has level %u at %llu instead of %u", tree,
			  (unsigned)ONDISK_LE(p, header, level), (unsigned long long)logical,
			  level);
	else if (level)
		btrfs_walk_pointers(x, tree, m->at[0] + within, count, level);
	else
		btrfs_walk_leaf(x, tree, m->at[0] + within, count);
}

void btrfs_walk_tree(struct btrfs_disk *x, unsigned long long tree, uint64_t logical,
		     uint64_t level)
{
	if (level >= BTRFS_LEVELS)
		walk_fail(&x->walk, "tree %llu has level %u", tree, (unsigned)level);
	else if (logical && !x->walk.status)
		btrfs_walk_block(x, tree, logical, level);
}

/* ---- the format ---- */

static int btrfs_walk(struct ondisk_map *m, const uint8_t *disk, struct err *err)
{
	struct btrfs_disk x = { .walk = { .map = m, .disk = disk, .err = err } };
	const uint8_t *super = disk + BTRFS_SUPER_AT;

	btrfs_read_super(&x, super);
	if (x.walk.status)
		return x.walk.status;
	m->block_size = x.node;
	walk_set_make(&x.walk, &x.met, m->disk_size / BTRFS_UNIT + 1, "blocks");
	btrfs_walk_supers(&x);
	btrfs_walk_tree(&x, BTRFS_CHUNK_TREE, ONDISK_LE(super, super, chunk_root),
			ONDISK_LE(super, super, chunk_root_level));
	btrfs_walk_tree(&x, BTRFS_ROOT_TREE, ONDISK_LE(super, super, root),
			ONDISK_LE(super, super, root_level));
	btrfs_walk_tree(&x, BTRFS_LOG_TREE, ONDISK_LE(super, super, log_root),
			ONDISK_LE(super, super, log_root_level));
	walk_apply_names(&x.walk, "inode ", BTRFS_ROOT_DIR);
	walk_set_free(&x.met);
	return x.walk.status;
}

static void btrfs_seal(struct ondisk_sealing *s, const struct ondisk_cover *c)
{
	ondisk_seal_le(s, c->of, ~crc32c(UINT32_MAX, s->disk + c->at, c->len) & UINT32_MAX, 4);
}

const struct ondisk_format ondisk_btrfs = {
	.name = "btrfs",
	.structures = btrfs_def_structures,
	.structure_count = ARRAY_LEN(btrfs_def_structures),
	.recognises = btrfs_recognises,
	.walk = btrfs_walk,
	.seal = btrfs_seal,
};
