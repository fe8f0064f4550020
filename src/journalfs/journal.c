/* journal.c -- transactions of blocks: committed to the journal, and brought home. */
#include "journalfs/journal.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"
#include "base/must.h"
#include "journalfs/layout.h"
#include "tree/inode.h"

enum {
	CHECKPOINT_TRANSACTIONS = 4,
	/* Where the journal begins: so near to its end that the first transactions wrap. */
	HEAD_FIRST = LAYOUT_JOURNAL_BLOCKS - 8,
};

_Static_assert(TRANSACTION_BLOCKS_MAX == LAYOUT_JOURNAL_BLOCKS - 2, "descriptor, commit record");

void transaction_add(struct buf *blocks, uint32_t block, bool adds, const void *bytes)
{
	struct journal_block added = { block, adds, blob_make(bytes, LAYOUT_BLOCK, false) };

	buf_add(blocks, &added, sizeof(added));
}

static void transaction_drop(struct buf *blocks)
{
	for (size_t at = 0; at < blocks->len; at += sizeof(struct journal_block))
		blob_drop(((struct journal_block *)(void *)(blocks->data + at))->bytes);
	buf_free(blocks);
}

void transaction_free(struct transaction *t)
{
	transaction_drop(&t->data);
	transaction_drop(&t->blocks);
	buf_free(&t->freed);
}

void journal_make(struct journal *j)
{
	const char zeros[LAYOUT_BLOCK] = { 0 };

	j->head = HEAD_FIRST;
	j->sequence = 1;
	for (uint32_t i = 0; i < LAYOUT_MAP_BLOCKS; i++)
		journal_write_bytes(j, LAYOUT_MAP + i, zeros, 0);
	for (unsigned i = 0; i < LAYOUT_SUPERBLOCKS; i++)
		journal_write_super(j);
}

/* ---- commit ---- */

static const struct journal_block *transaction_blocks(const struct buf *blocks, size_t *ret_count)
{
	*ret_count = blocks->len / sizeof(struct journal_block);
	return (const struct journal_block *)(const void *)blocks->data;
}

/* Of what becomes free, copies that recovery would find. */
static void journal_revoke(const struct journal *j, const struct transaction *t,
			   struct layout_descriptor *d)
{
	const uint32_t *freed = (const uint32_t *)(const void *)t->freed.data;

	if (j->fault == JOURNAL_FAULT_revoke_forgotten)
		return;
	for (size_t i = 0; i < t->freed.len / sizeof(*freed); i++)
		if (pmap_get(&j->waiting, freed[i]))
			d->revoked[d->revokes++] = (uint16_t)freed[i];
}

/* The block with the difference of its link count to the committed one. */
static struct blob *journal_difference(const struct journal *j, const struct journal_block *b)
{
	const size_t at =
		offsetof(struct layout_chain, bytes) + offsetof(struct layout_inode, nlink);
	struct blob *blob = blob_make(b->bytes->bytes, LAYOUT_BLOCK, false);
	uint32_t before, now;

	memcpy(&before, journal_read(j, b->block) + at, sizeof(before));
	memcpy(&now, blob->bytes + at, sizeof(now));
	now -= before;
	memcpy(blob->bytes + at, &now, sizeof(now));
	return blob;
}

static uint32_t journal_next(struct journal *j)
{
	uint32_t block = journal_place(j->head);

	j->head = (j->head + 1) % LAYOUT_JOURNAL_BLOCKS;
	j->live++;
	return block;
}

static void journal_write_copies(struct journal *j, const struct transaction *t, uint64_t *check)
{
	size_t count;
	const struct journal_block *blocks = transaction_blocks(&t->blocks, &count);

	for (size_t i = 0; i < count; i++) {
		struct blob *copy = blocks[i].bytes;

		copy->ref.count++;
		if (blocks[i].adds) {
			blob_drop(copy);
			copy = journal_difference(j, &blocks[i]);
		}
		*check = hash64(copy->bytes, LAYOUT_BLOCK, *check);
		journal_write(j, journal_next(j), copy, 0);
		blob_drop(copy);
	}
}

/* Descriptor, copies, commit record. */
static void journal_write_transaction(struct journal *j, const struct transaction *t)
{
	struct layout_descriptor d = { .magic = LAYOUT_MAGIC_DESCRIPTOR, .sequence = j->sequence };
	struct layout_commit commit = { .magic = LAYOUT_MAGIC_COMMIT, .sequence = j->sequence++ };
	unsigned what = RECORD_FLUSH | RECORD_FUA;
	size_t count;
	const struct journal_block *blocks = transaction_blocks(&t->blocks, &count);

	for (size_t i = 0; i < count; i++)
		d.tag[d.tags++] = (struct layout_tag){ (uint16_t)blocks[i].block, blocks[i].adds };
	journal_revoke(j, t, &d);
	commit.check = hash64(&d, sizeof(d), 0);
	journal_write_bytes(j, journal_next(j), &d, 0);
	journal_write_copies(j, t, &commit.check);
	if (j->fault == JOURNAL_FAULT_commit_unflushed)
		what = RECORD_FUA;
	else if (j->fault == JOURNAL_FAULT_commit_volatile)
		what = RECORD_FLUSH;
	else if (j->fault == JOURNAL_FAULT_commit_unchecked)
		what = 0;
	journal_write_bytes(j, journal_next(j), &commit, what);
	if (j->fault == JOURNAL_FAULT_commit_unchecked)
		journal_flush(j);
}

static void journal_write_home(struct journal *j, const struct buf *list)
{
	size_t count;
	const struct journal_block *blocks = transaction_blocks(list, &count);

	for (size_t i = 0; i < count; i++)
		journal_write(j, blocks[i].block, blocks[i].bytes, 0);
}

static void journal_wait(struct journal *j, const struct buf *list)
{
	size_t count;
	const struct journal_block *blocks = transaction_blocks(list, &count);

	for (size_t i = 0; i < count; i++) {
		blocks[i].bytes->ref.count++;
		pmap_put(&j->waiting, &blob_type, blocks[i].block, &blocks[i].bytes->ref);
	}
}

void journal_commit(struct journal *j, const struct transaction *t)
{
	const uint32_t *freed = (const uint32_t *)(const void *)t->freed.data;
	bool stale = j->fault == JOURNAL_FAULT_data_stale && t->unawaited;
	bool late = j->fault == JOURNAL_FAULT_data_late;
	size_t count;

	transaction_blocks(&t->blocks, &count);
	must(count <= TRANSACTION_BLOCKS_MAX);
	if (j->live + count + 2 > LAYOUT_JOURNAL_BLOCKS)
		journal_checkpoint(j);
	if (!stale && !late)
		journal_write_home(j, &t->data);
	if (j->fault == JOURNAL_FAULT_home_early)
		journal_write_home(j, &t->blocks);
	journal_write_transaction(j, t);
	if (late)
		journal_write_home(j, &t->data);
	for (size_t i = 0; i < t->freed.len / sizeof(*freed); i++)
		pmap_remove(&j->waiting, &blob_type, freed[i]);
	journal_wait(j, &t->blocks);
	if (stale)
		journal_wait(j, &t->data);
	if (++j->since == CHECKPOINT_TRANSACTIONS)
		journal_checkpoint(j);
}

/* ---- checkpoint ---- */

void journal_checkpoint(struct journal *j)
{
	struct ref *blob;
	uint64_t block = 0;

	if (!j->live)
		return;
	for (bool first = true; (blob = pmap_next(&j->waiting, first, &block)); first = false)
		journal_write(j, (uint32_t)block, (struct blob *)blob, 0);
	if (j->fault != JOURNAL_FAULT_tail_early)
		journal_flush(j);
	journal_write_super(j);
	pmap_drop(&j->waiting, &blob_type);
	j->waiting = (struct pmap)PMAP_INIT;
	j->live = 0;
	j->since = 0;
}
