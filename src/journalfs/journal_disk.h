/* journal_disk.h -- the state of a journal, and its requests to the disk. */
#ifndef JOURNALFS_JOURNAL_DISK_H
#define JOURNALFS_JOURNAL_DISK_H

#include "journalfs/journal_faults.h"
#include "journalfs/ramdisk.h"

struct journal {
	struct ramdisk disk;
	enum journal_fault fault;
	uint64_t generation;  /* of the superblock */
	uint64_t sequence;    /* of the next transaction */
	uint32_t head;        /* position of the next transaction */
	uint32_t live;        /* blocks from the tail to there */
	unsigned since;       /* transactions since the last checkpoint */
	bool volatile_writes; /* neither flushes nor FUA: the fault unmount_volatile */
	struct pmap waiting;  /* struct blob by block: committed, not at home */
};

struct journal journal_copy(const struct journal *j);
void journal_free(struct journal *j);

/* A block as it is after what was committed. */
const char *journal_read(const struct journal *j, uint32_t block);
/* The block of the disk that a position in the journal is; positions go on behind the end. */
uint32_t journal_place(uint32_t position);
/* what: RECORD_FLUSH and RECORD_FUA, or 0. */
void journal_write(struct journal *j, uint32_t block, struct blob *bytes, unsigned what);
void journal_write_bytes(struct journal *j, uint32_t block, const void *bytes, unsigned what);
void journal_flush(struct journal *j);
/* The journal is empty: it begins at the head. */
void journal_write_super(struct journal *j);

#endif
