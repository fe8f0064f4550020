/* layout.h -- the disk of a journalfs: what lies in which block.
 *
 *     0, 1       the superblock, twice: generation g is written to block g % 2, so that a torn
 * write leaves the generation before it 2 ... 127  the journal, a ring of transactions 128 ... 131
 * the map: which block each inode begins in 132 ... 1023  inodes and data
 *
 * A transaction is a descriptor (which blocks follow, and which older copies are revoked), copies
 * of the blocks, and a commit record with a checksum over all of it. Transactions have consecutive
 * sequence numbers. The superblock says where in the journal the oldest one that may not be at home
 * begins, and which number it has; the first transaction that is not whole ends the journal.
 *
 * An inode is a record (record.h) in its own chain of blocks: attributes, extended attributes, then
 * names, a link target, or which blocks its data lie in. Blocks in use are those that
 * reachable inodes refer to; there is no other account of them.
 *
 * Only the map and inodes go through the journal. Data are always written to free blocks, before
 * the transaction that refers to them. So what a crash leaves is exactly what was committed last.
 *
 * Numbers are in the byte order of the machine. */
#ifndef JOURNALFS_LAYOUT_H
#define JOURNALFS_LAYOUT_H

#include <stdint.h>

enum {
	LAYOUT_BLOCK = 1024,
	LAYOUT_BLOCKS = 1024,
	LAYOUT_SIZE = LAYOUT_BLOCK * LAYOUT_BLOCKS,
	LAYOUT_SUPERBLOCKS = 2,
	LAYOUT_JOURNAL = LAYOUT_SUPERBLOCKS, /* its first block */
	LAYOUT_JOURNAL_BLOCKS = 126,
	LAYOUT_MAP = LAYOUT_JOURNAL + LAYOUT_JOURNAL_BLOCKS,
	LAYOUT_MAP_BLOCKS = 4,
	LAYOUT_HOME = LAYOUT_MAP + LAYOUT_MAP_BLOCKS, /* first block of inodes and data */
	LAYOUT_MAP_SLOTS = LAYOUT_BLOCK / 8,          /* of one block of the map */
	LAYOUT_SLOTS = LAYOUT_MAP_BLOCKS * LAYOUT_MAP_SLOTS,
	LAYOUT_PIECES = 4, /* blocks that a block of a tree takes at most */
};

#define LAYOUT_MAGIC_SUPER UINT64_C(0x4a726e6c53757072)
#define LAYOUT_MAGIC_DESCRIPTOR UINT64_C(0x4a726e6c44657363)
#define LAYOUT_MAGIC_COMMIT UINT64_C(0x4a726e6c436f6d6d)
#define LAYOUT_MAGIC_CHAIN UINT32_C(0x496e6f64)

struct layout_super {
	uint64_t magic, generation;
	uint64_t check;         /* of the block, with 0 here */
	uint64_t tail_sequence; /* of the transaction at the tail */
	uint32_t tail;          /* position in the journal */
	uint32_t blocks;
	char empty[LAYOUT_BLOCK - 48];
	uint64_t generation_again; /* in the last sector: halves of two writes are not one */
};

struct layout_tag {
	uint16_t block; /* where the copy belongs */
	uint16_t adds;  /* only by the fault replay_adds: its link count is a difference */
};

struct layout_descriptor {
	uint64_t magic, sequence;
	uint32_t tags, revokes;
	struct layout_tag tag[LAYOUT_JOURNAL_BLOCKS];
	uint16_t revoked[LAYOUT_JOURNAL_BLOCKS];
	char empty[LAYOUT_BLOCK - 24 - 6 * LAYOUT_JOURNAL_BLOCKS];
};

struct layout_commit {
	uint64_t magic, sequence;
	uint64_t check; /* of the descriptor and the copies */
	char empty[LAYOUT_BLOCK - 24];
};

struct layout_slot {
	uint32_t ino;   /* 0: the slot is free */
	uint16_t block; /* the first one of its chain */
	uint16_t empty;
};

struct layout_chain {
	uint32_t magic, ino;
	uint16_t index;  /* in the chain, from 0 */
	uint16_t next;   /* block; 0: the last one */
	uint16_t length; /* of the bytes that mean something */
	uint16_t empty;
	char bytes[LAYOUT_BLOCK - 16];
};

/* The beginning of a record. */
struct layout_inode {
	uint32_t mode, nlink, uid, gid, flags, rdev;
	uint64_t size;
	int64_t access, modify, change, birth;
	uint32_t xattrs; /* how many follow */
	uint32_t items;  /* behind these: names, blocks of data, or bytes of a link target */
};

_Static_assert(sizeof(struct layout_super) == LAYOUT_BLOCK, "a block");
_Static_assert(sizeof(struct layout_descriptor) == LAYOUT_BLOCK, "a block");
_Static_assert(sizeof(struct layout_commit) == LAYOUT_BLOCK, "a block");
_Static_assert(sizeof(struct layout_chain) == LAYOUT_BLOCK, "a block");
_Static_assert(sizeof(struct layout_slot) * LAYOUT_MAP_SLOTS == LAYOUT_BLOCK, "a block");

#endif
