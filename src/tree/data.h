/* data.h -- the blocks of a file, for those who move them. */
#ifndef TREE_DATA_H
#define TREE_DATA_H

#include "tree/tree.h"

/* Behind every byte a file can have: sizes end at 2^63 - 1. */
#define DATA_END ((uint64_t)1 << 63)

/* The blocks that have bytes in [from, to), in no order. The map may change at the block just
 * given. Takes the smaller of the number of blocks there are and of those in the range. */
struct block_walk {
	const struct pmap *blocks;
	uint64_t index; /* of the block just given */
	uint64_t next, first, end;
	bool by_index, started;
};
struct block_walk block_walk(const struct pmap *blocks, uint64_t from, uint64_t to);
const struct blob *block_next(struct block_walk *w);

/* Puts a block (taking over the caller's count) or, where NULL, takes it away. */
void block_put(struct tree *t, struct inode *file, uint64_t index, struct blob *blob);
/* Writes bytes; the size stays. */
void data_write(struct tree *t, struct inode *file, uint64_t offset, const char *data, size_t len);
/* The same, but a block that has these bytes already stays: nothing is copied or hashed. */
void data_renew(struct tree *t, struct inode *file, uint64_t offset, const char *data, size_t len);
/* A file without blocks gets those of another, as far as its size goes. */
void data_share(struct tree *t, struct inode *file, const struct inode *other);
/* Zeroes bytes and takes away the blocks that lie wholly within. */
void data_punch(struct tree *t, struct inode *file, uint64_t from, uint64_t to);

/* The sum over the blocks, also where the tree keeps none. */
struct hash data_hash(const struct tree *t, const struct inode *file);
/* The first offset where two files differ in contents; DATA_END if nowhere. */
uint64_t data_difference(const struct inode *a, const struct inode *b);

#endif
