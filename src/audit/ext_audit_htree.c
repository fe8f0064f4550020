/* ext_audit_htree.c -- the rules of the index of a directory, as fs/ext4/namei.c relies on them:
 * dx_probe() gives up on a node that breaks one, and a lookup finds only names that lie where their
 * hash leads to. */
#include "audit/ext_audit_htree.h"

#include <stdlib.h>

#include "audit/ext_dirhash.h"
#include "base/must.h"

enum {
	ROOT_INFO_AT = 0x18, /* behind "." and ".." */
	ROOT_INFO_LEN = 8,
	NODE_ENTRIES_AT = 8, /* behind an entry without a name */
	ENTRY_LEN = 8,
	BLOCK_MASK = 0x0fffffff,
	FLAG_UNKNOWN = 1,
	LEVELS_MAX = 1,          /* besides the root, */
	LARGEDIR_LEVELS_MAX = 2, /* and where directories may be large */
	INCOMPAT_LARGEDIR = 0x4000,
	FLAGS_UNSIGNED_HASH = 0x2,
};

static const char *const bad_node = "a node of a directory's index cannot be";
static const uint64_t hashes = 1ull << 32;

static void ext_audit_htree_bad(const struct ext_audit_htree *h, const char *rule, uint32_t block)
{
	audit_breach(h->a->audit, rule, "directory %u, block %u", h->dir->number, block);
}

static const uint8_t *ext_audit_htree_block(const struct ext_audit_htree *h, uint32_t block)
{
	uint64_t physical = ext_file_block(h->dir, block);

	return physical ? ext_block(&h->a->w, physical) : NULL;
}

/* As many entries as there is room for (dx_root_limit(), dx_node_limit()). */
static uint32_t ext_audit_htree_limit(const struct ext_audit_htree *h, uint32_t entries_at)
{
	bool has_tail = h->a->w.ro_compat & EXT_RO_COMPAT_METADATA_CSUM;

	return (h->a->w.block_size - entries_at) / ENTRY_LEN - has_tail;
}

static bool ext_audit_htree_below(struct ext_audit_htree *h, uint32_t block, unsigned levels,
				  struct ext_hash_range range);

/* The hash of the first entry is that of the node; the lowest bit of another one says that names
 * with this hash begin in the block before. */
static bool ext_audit_htree_entries(struct ext_audit_htree *h, const uint8_t *entries,
				    uint32_t count, unsigned levels, struct ext_hash_range range)
{
	uint64_t from = range.from;
	bool fine = true;

	for (uint32_t i = 0; i < count && fine; i++) {
		const uint8_t *e = entries + (size_t)i * ENTRY_LEN;
		uint64_t to = i + 1 < count ? ONDISK_LE(e + ENTRY_LEN, dx_entry, hash) : range.to;

		if (to < from || to > range.to)
			ext_audit_htree_bad(h, "hashes of a directory's index are not in order",
					    (uint32_t)ONDISK_LE(e, dx_entry, block));
		fine = to >= from && to <= range.to &&
		       ext_audit_htree_below(h, ONDISK_LE(e, dx_entry, block) & BLOCK_MASK, levels,
					     (struct ext_hash_range){ .from = from & ~1ull,
								      .to = to });
		from = to;
	}
	return fine;
}

static bool ext_audit_htree_node(struct ext_audit_htree *h, uint32_t block, uint32_t entries_at,
				 unsigned levels, struct ext_hash_range range)
{
	const uint8_t *p = ext_audit_htree_block(h, block);
	uint32_t count = p ? ONDISK_LE(p + entries_at, dx_countlimit, count) : 0;

	if (!count || count > ONDISK_LE(p + entries_at, dx_countlimit, limit) ||
	    ONDISK_LE(p + entries_at, dx_countlimit, limit) !=
		    ext_audit_htree_limit(h, entries_at)) {
		ext_audit_htree_bad(h, bad_node, block);
		return false;
	}
	h->ranges[block] = (struct ext_hash_range){ 0 };
	return ext_audit_htree_entries(h, p + entries_at, count, levels, range);
}

static bool ext_audit_htree_below(struct ext_audit_htree *h, uint32_t block, unsigned levels,
				  struct ext_hash_range range)
{
	if (block >= h->blocks || h->met[block]) {
		ext_audit_htree_bad(h,
				    block < h->blocks ? "a directory's index leads to a block twice"
						      : "a directory's index leads behind its end",
				    block);
		return false;
	}
	h->met[block] = true;
	h->ranges[block] = range;
	return !levels || ext_audit_htree_node(h, block, NODE_ENTRIES_AT, levels - 1, range);
}

static bool ext_audit_htree_root(struct ext_audit_htree *h)
{
	const uint8_t *p = ext_audit_htree_block(h, 0), *info = p ? p + ROOT_INFO_AT : NULL;
	unsigned levels, levels_max = h->a->w.incompat & INCOMPAT_LARGEDIR ? LARGEDIR_LEVELS_MAX
									   : LEVELS_MAX;

	if (!p)
		return false; /* a hole, which is against another rule */
	h->version = ONDISK_LE(info, dx_root_info, hash_version);
	levels = ONDISK_LE(info, dx_root_info, indirect_levels);
	if (h->version >= EXT_DIRHASH_SIGNED_VERSIONS || levels > levels_max ||
	    ONDISK_LE(info, dx_root_info, reserved_zero) ||
	    ONDISK_LE(info, dx_root_info, info_length) != ROOT_INFO_LEN ||
	    ONDISK_LE(info, dx_root_info, unused_flags) & FLAG_UNKNOWN) {
		ext_audit_htree_bad(h, "the root of a directory's index cannot be", 0);
		return false;
	}
	if (ONDISK_LE(h->a->w.super, super_block, s_flags) & FLAGS_UNSIGNED_HASH)
		h->version += EXT_DIRHASH_SIGNED_VERSIONS;
	h->met[0] = true;
	return ext_audit_htree_node(h, 0, ROOT_INFO_AT + ROOT_INFO_LEN, levels,
				    (struct ext_hash_range){ .to = hashes });
}

void ext_audit_htree_open(struct ext_audit_htree *ret, struct ext_audit *a,
			  const struct ext_file *dir, uint32_t blocks)
{
	struct ext_audit_htree h = { .a = a, .dir = dir, .blocks = blocks };
	bool fine;

	*ret = h;
	if (!blocks || !(dir->flags & EXT_INDEX_FL) || !(a->w.compat & EXT_COMPAT_DIR_INDEX))
		return;
	h.seed = a->w.super + super_block_s_hash_seed_0_AT;
	h.ranges = must_alloc(blocks * sizeof(*h.ranges));
	h.met = must_alloc(blocks * sizeof(*h.met));
	fine = ext_audit_htree_root(&h);
	for (uint32_t i = 0; i < blocks && fine; i++)
		if (!h.met[i]) {
			ext_audit_htree_bad(&h, "a directory's index leads not to all its blocks",
					    i);
			fine = false;
		}
	if (fine)
		*ret = h;
	else
		ext_audit_htree_close(&h);
}

void ext_audit_htree_close(struct ext_audit_htree *h)
{
	free(h->ranges);
	free(h->met);
	h->ranges = NULL;
	h->met = NULL;
}

void ext_audit_htree_name(const struct ext_audit_htree *h, uint32_t block, const uint8_t *name,
			  size_t len)
{
	uint32_t hash;

	if (!h->ranges)
		return;
	hash = ext_dirhash(h->version, h->seed, name, len);
	if (hash < h->ranges[block].from || hash >= h->ranges[block].to)
		ext_audit_htree_bad(h, "a name lies where its hash does not lead to", block);
}
