/* ext_audit_quota.c -- the rules of quota files: what is in use by each user, group and project.
 *
 * A file is a tree of blocks of 1 KiB (fs/quota/quota_tree.c): four levels of 256 pointers, one
 * level for each byte of an id, and leaves with records. */
#include <stdlib.h>

#include "audit/ext_audit.h"
#include "base/must.h"

enum {
	QUOTA_BLOCK = 1024,
	QUOTA_LEVELS = 4,
	QUOTA_ROOT = 1,
	QUOTA_TYPES = 3,
	QUOTA_LEN_MAX = 1 << 26,
	LEAF_HEADER_LEN = 16,
	RECORD_LEN = 72,
	SECTOR = 512,
	RO_COMPAT_QUOTA = 0x100,
	INCOMPAT_EA_INODE = 0x400,
	INODE_PROJECT_END = 0xa0, /* behind i_projid */
};

/* Of one id. */
struct ext_audit_usage {
	uint32_t id;
	uint64_t inodes, bytes;
	bool recorded; /* in the quota file */
};

struct ext_audit_quota {
	struct ext_audit *a;
	struct ext_file f;
	unsigned type; /* user, group, project */
	struct ext_audit_usage *usages;
	size_t count, cap;
	bool *met; /* blocks of the tree, but for leaves, which several ids may share */
};

static struct ext_audit_usage *ext_audit_usage_of(struct ext_audit_quota *q, uint32_t id)
{
	for (size_t i = 0; i < q->count; i++)
		if (q->usages[i].id == id)
			return &q->usages[i];
	if (q->count == q->cap) {
		q->cap = q->cap ? 2 * q->cap : 8;
		q->usages = must_realloc(q->usages, q->cap * sizeof(*q->usages));
	}
	q->usages[q->count] = (struct ext_audit_usage){ .id = id };
	return &q->usages[q->count++];
}

/* Whose an inode is, by the type of the quota. */
static uint32_t ext_audit_owner(const struct ext_audit_quota *q, const uint8_t *inode)
{
	uint64_t extra =
		q->a->w.inode_size > EXT_INODE_OLD_LEN ? ONDISK_LE(inode, inode, i_extra_isize) : 0;

	if (q->type == 0)
		return ONDISK_LE(inode, inode, i_uid) | ONDISK_LE(inode, inode, l_i_uid_high) << 16;
	if (q->type == 1)
		return ONDISK_LE(inode, inode, i_gid) | ONDISK_LE(inode, inode, l_i_gid_high) << 16;
	return EXT_INODE_OLD_LEN + extra >= INODE_PROJECT_END ? ONDISK_LE(inode, inode, i_projid)
							      : 0;
}

static void ext_audit_usages(struct ext_audit_quota *q)
{
	for (uint32_t i = 1; i <= q->a->w.inode_count; i++) {
		struct ext_audit_usage *u;
		struct ext_file f;

		if (!q->a->inodes[i].used || ext_file_open(&q->a->w, &f, i))
			continue;
		u = ext_audit_usage_of(q, ext_audit_owner(q, f.inode));
		u->inodes++;
		u->bytes += q->a->inodes[i].blocks * q->a->w.block_size;
	}
}

/* ---- the file ---- */

static const uint8_t *ext_audit_quota_block(const struct ext_audit_quota *q, uint32_t number)
{
	uint64_t offset = (uint64_t)number * QUOTA_BLOCK;
	uint64_t block =
		offset < q->f.size ? ext_file_block(&q->f, offset / q->a->w.block_size) : 0;
	const uint8_t *p = block ? ext_block(&q->a->w, block) : NULL;

	return p ? p + offset % q->a->w.block_size : NULL;
}

static void ext_audit_record(struct ext_audit_quota *q, const uint8_t *record)
{
	struct ext_audit_usage *u =
		ext_audit_usage_of(q, ONDISK_LE(record, v2r1_disk_dqblk, dqb_id));

	u->recorded = true;
	if (ONDISK_LE(record, v2r1_disk_dqblk, dqb_curinodes) != u->inodes ||
	    ONDISK_LE(record, v2r1_disk_dqblk, dqb_curspace) != u->bytes)
		audit_breach(q->a->audit, "a quota file has not what is in use",
			     "type %u, id %u: %llu inodes, of %llu; %llu bytes, of %llu", q->type,
			     u->id,
			     (unsigned long long)ONDISK_LE(record, v2r1_disk_dqblk, dqb_curinodes),
			     (unsigned long long)u->inodes,
			     (unsigned long long)ONDISK_LE(record, v2r1_disk_dqblk, dqb_curspace),
			     (unsigned long long)u->bytes);
}

/* The record of an id is one of those of its leaf; an empty one is none. */
static void ext_audit_quota_leaf(struct ext_audit_quota *q, const uint8_t *p, uint32_t id)
{
	for (uint32_t at = LEAF_HEADER_LEN; at + RECORD_LEN <= QUOTA_BLOCK; at += RECORD_LEN) {
		bool used = false;

		for (unsigned i = 0; i < RECORD_LEN; i++)
			used |= p[at + i];
		if (used && ONDISK_LE(p + at, v2r1_disk_dqblk, dqb_id) == id) {
			ext_audit_record(q, p + at);
			return;
		}
	}
}

/* Ids whose upper bytes are those of `id` lie below. */
static void ext_audit_quota_tree(struct ext_audit_quota *q, uint32_t number, unsigned level,
				 uint32_t id)
{
	const uint8_t *p = ext_audit_quota_block(q, number);

	if (!p || (level < QUOTA_LEVELS && q->met[number])) {
		audit_breach(q->a->audit, "the tree of a quota file cannot be", "type %u: block %u",
			     q->type, number);
		return;
	}
	if (level == QUOTA_LEVELS) {
		ext_audit_quota_leaf(q, p, id);
		return;
	}
	q->met[number] = true;
	for (uint32_t i = 0; i < QUOTA_BLOCK / qt_tree_block_LEN; i++) {
		uint32_t below = ONDISK_LE(p + (size_t)i * qt_tree_block_LEN, qt_tree, block);

		if (below)
			ext_audit_quota_tree(q, below, level + 1, id << 8 | i);
	}
}

static void ext_audit_quota(struct ext_audit *a, unsigned type, uint32_t number)
{
	struct ext_audit_quota q = { .a = a, .type = type };

	if (!number || number > a->w.inode_count || ext_file_open(&a->w, &q.f, number) ||
	    q.f.size > QUOTA_LEN_MAX)
		return;
	ext_audit_usages(&q);
	q.met = must_alloc(q.f.size / QUOTA_BLOCK + 1);
	if (!ext_file_blocks(&a->w, &q.f))
		ext_audit_quota_tree(&q, QUOTA_ROOT, 0, 0);
	for (size_t i = 0; i < q.count; i++)
		if (!q.usages[i].recorded)
			audit_breach(a->audit, "a quota file lacks an id that has files",
				     "type %u, id %u", type, q.usages[i].id);
	ext_file_close(&q.f);
	free(q.usages);
	free(q.met);
}

void ext_audit_quotas(struct ext_audit *a)
{
	const uint32_t files[QUOTA_TYPES] = {
		ONDISK_LE(a->w.super, super_block, s_usr_quota_inum),
		ONDISK_LE(a->w.super, super_block, s_grp_quota_inum),
		ONDISK_LE(a->w.super, super_block, s_prj_quota_inum),
	};

	/* Values of attributes that have inodes count for those that have the attributes. */
	if (!(a->w.ro_compat & RO_COMPAT_QUOTA) || a->w.incompat & INCOMPAT_EA_INODE)
		return;
	for (unsigned type = 0; type < QUOTA_TYPES; type++)
		ext_audit_quota(a, type, files[type]);
}
