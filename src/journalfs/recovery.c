/* recovery.c -- whole transactions of the journal are brought home, and the journal is emptied.
 *
 * What is on the disk may be anything. Every transaction is verified before it is used. Recovery
 * that is itself cut short can be repeated: until the superblock is written nothing is lost, and
 * writing the same copies again changes nothing. */
#include "journalfs/recovery.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"
#include "journalfs/layout.h"
#include "tree/inode.h"

struct journal_recovery {
	struct journal *journal;
	uint64_t revoked[LAYOUT_BLOCKS]; /* the last transaction that revokes the block; 0: none */
};

static bool super_is_valid(const struct layout_super *super)
{
	struct layout_super copy = *super;

	copy.check = 0;
	return super->magic == LAYOUT_MAGIC_SUPER && super->blocks == LAYOUT_BLOCKS &&
	       super->tail < LAYOUT_JOURNAL_BLOCKS && super->tail_sequence &&
	       super->check == hash64(&copy, sizeof(copy), 0);
}

/* The newest superblock that is whole; *ret is zero before. */
static int recovery_read_super(struct journal *j, struct layout_super *ret)
{
	bool ours = false;

	for (uint32_t block = 0; block < LAYOUT_SUPERBLOCKS; block++) {
		struct layout_super super;

		memcpy(&super, ramdisk_read(&j->disk, block), sizeof(super));
		ours |= super.magic == LAYOUT_MAGIC_SUPER;
		if (super_is_valid(&super) && (!ret->magic || super.generation > ret->generation))
			*ret = super;
	}
	return ret->magic ? 0 : ours ? EUCLEAN : EINVAL;
}

/* The block at a position behind that of a transaction's descriptor. */
static const char *recovery_read(const struct journal *j, uint32_t head, uint32_t behind)
{
	if (j->fault == JOURNAL_FAULT_journal_wrap)
		return ramdisk_read(&j->disk, LAYOUT_JOURNAL + head + behind);
	return ramdisk_read(&j->disk, journal_place(head + behind));
}

static bool descriptor_is_valid(const struct journal *j, const struct layout_descriptor *d)
{
	if (d->magic != LAYOUT_MAGIC_DESCRIPTOR || d->sequence != j->sequence ||
	    d->tags > LAYOUT_JOURNAL_BLOCKS - 2 || d->revokes > LAYOUT_JOURNAL_BLOCKS ||
	    j->live + d->tags + 2 > LAYOUT_JOURNAL_BLOCKS)
		return false;
	for (uint32_t i = 0; i < d->tags; i++)
		if (d->tag[i].block < LAYOUT_MAP || d->tag[i].block >= LAYOUT_BLOCKS)
			return false;
	for (uint32_t i = 0; i < d->revokes; i++)
		if (d->revoked[i] >= LAYOUT_BLOCKS)
			return false;
	return true;
}

/* The descriptor of the transaction at the head; false where there is no whole one. */
static bool recovery_find(const struct journal *j, struct layout_descriptor *ret)
{
	struct layout_commit commit;
	uint64_t check;

	memcpy(ret, recovery_read(j, j->head, 0), sizeof(*ret));
	if (!descriptor_is_valid(j, ret))
		return false;
	check = hash64(ret, sizeof(*ret), 0);
	for (uint32_t i = 0; i < ret->tags; i++)
		check = hash64(recovery_read(j, j->head, 1 + i), LAYOUT_BLOCK, check);
	memcpy(&commit, recovery_read(j, j->head, 1 + ret->tags), sizeof(commit));
	return commit.magic == LAYOUT_MAGIC_COMMIT && commit.sequence == ret->sequence &&
	       (commit.check == check || j->fault == JOURNAL_FAULT_commit_unchecked);
}

static void recovery_pass(struct journal *j, const struct layout_descriptor *d)
{
	j->head = (j->head + d->tags + 2) % LAYOUT_JOURNAL_BLOCKS;
	j->live += d->tags + 2;
	j->sequence++;
}

/* The copy with its link count added to that of the block at home. */
static void recovery_add_links(const struct journal *j, uint32_t block, char *bytes)
{
	const size_t at =
		offsetof(struct layout_chain, bytes) + offsetof(struct layout_inode, nlink);
	uint32_t home, added;

	memcpy(&home, ramdisk_read(&j->disk, block) + at, sizeof(home));
	memcpy(&added, bytes + at, sizeof(added));
	home += added;
	memcpy(bytes + at, &home, sizeof(home));
}

static void recovery_replay(struct journal_recovery *r, uint32_t head,
			    const struct layout_descriptor *d)
{
	struct journal *j = r->journal;

	for (uint32_t i = 0; i < d->tags; i++) {
		const struct layout_tag *tag = &d->tag[i];
		char bytes[LAYOUT_BLOCK];

		if (r->revoked[tag->block] >= d->sequence)
			continue;
		memcpy(bytes, recovery_read(j, head, 1 + i), sizeof(bytes));
		if (tag->adds && j->fault == JOURNAL_FAULT_replay_adds)
			recovery_add_links(j, tag->block, bytes);
		journal_write_bytes(j, tag->block, bytes, 0);
	}
}

/* Twice over the journal: what is revoked, then what is not. */
static void recovery_replay_all(struct journal_recovery *r)
{
	struct journal *j = r->journal;
	uint32_t head = j->head;
	uint64_t sequence = j->sequence;
	struct layout_descriptor d;

	for (; recovery_find(j, &d); recovery_pass(j, &d))
		for (uint32_t i = 0; i < d.revokes; i++)
			r->revoked[d.revoked[i]] = d.sequence;
	j->head = head;
	j->sequence = sequence;
	j->live = 0;
	for (; recovery_find(j, &d); recovery_pass(j, &d))
		recovery_replay(r, j->head, &d);
}

int journal_recover(struct journal *j)
{
	struct journal_recovery r = { .journal = j };
	struct layout_super super = { 0 };
	int error = recovery_read_super(j, &super);

	if (error)
		return error;
	pmap_drop(&j->waiting, &blob_type);
	j->waiting = (struct pmap)PMAP_INIT;
	j->generation = super.generation;
	j->sequence = super.tail_sequence;
	j->head = super.tail;
	j->live = 0;
	j->since = 0;
	recovery_replay_all(&r);
	if (!j->live)
		return 0;
	if (j->fault != JOURNAL_FAULT_recovery_early)
		journal_flush(j);
	journal_write_super(j);
	j->live = 0;
	return 0;
}
