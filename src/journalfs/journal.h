/* journal.h -- transactions of blocks: committed to the journal, brought home, recovered.
 *
 *     commit       data; descriptor and copies; flush, commit record with FUA
 *     checkpoint   copies to where they belong; flush; superblock with FUA: the journal is empty
 *     recovery     the same of all whole transactions that the journal holds (recovery.h)
 *
 * A checkpoint is made after a few transactions, when the journal has no room, and by unmounting;
 * until then the blocks wait. One that becomes free while it waits is revoked: recovery must not
 * write the old copy over what the block is used for then. */
#ifndef JOURNALFS_JOURNAL_H
#define JOURNALFS_JOURNAL_H

#include "base/buf.h"
#include "journalfs/journal_disk.h"

/* A block and what is to be in it. */
struct journal_block {
	uint32_t block;
	bool adds; /* the fault replay_adds: its link count is journaled as a difference */
	struct blob *bytes;
};

/* What is committed as one. All zero is an empty one. */
struct transaction {
	struct buf data;   /* struct journal_block: written at once, to free blocks */
	struct buf blocks; /* struct journal_block: through the journal */
	struct buf freed;  /* uint32_t: blocks that nothing refers to any more */
	bool unawaited;    /* no call waits for it */
};

void transaction_free(struct transaction *t);
void transaction_add(struct buf *blocks, uint32_t block, bool adds, const void *bytes);
/* Blocks that can go through the journal in one transaction. */
enum { TRANSACTION_BLOCKS_MAX = 124 };

/* An empty journal, and an empty map, on a disk of old bytes. */
void journal_make(struct journal *j);
void journal_commit(struct journal *j, const struct transaction *t);
void journal_checkpoint(struct journal *j);

#endif
