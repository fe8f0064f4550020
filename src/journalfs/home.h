/* home.h -- where inodes lie on the disk, and which blocks are free. */
#ifndef JOURNALFS_HOME_H
#define JOURNALFS_HOME_H

#include "journalfs/journalfs.h"
#include "journalfs/record.h"

/* The place of an inode, and what of it is there. Never edited, only replaced. */
struct home {
	struct ref ref;
	uint16_t slot; /* of the map */
	uint32_t nlink;
	uint64_t size;
	struct pmap data; /* struct home_data by index of the block */
	uint32_t count;
	uint16_t chain[]; /* blocks of its record, so many */
};
extern const struct pmap_type home_type;

struct home *home_new(uint32_t count);
void home_drop(struct home *home);
const struct home *home_find(const struct journalfs *fs, uint64_t ino); /* NULL if it has none */
/* The block of a file as it lies there; NULL where it is another, or none. */
struct home_data *home_find_data(const struct home *home, uint64_t index, const struct blob *bytes);

/* False where it is no block of inodes and data, or is in use. */
bool home_claim(struct journalfs *fs, uint32_t block);
uint16_t home_allocate(struct journalfs *fs); /* there must be one */
void home_release(struct journalfs *fs, uint32_t block);
uint16_t home_take_slot(struct journalfs *fs); /* likewise */

/* Blocks of a chain for a record of so many bytes. */
uint32_t home_chain_blocks(size_t record_len);

static inline bool bit_get(const uint64_t *bits, uint32_t bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static inline void bit_set(uint64_t *bits, uint32_t bit, bool value)
{
	uint64_t mask = UINT64_C(1) << bit % 64;

	bits[bit / 64] = value ? bits[bit / 64] | mask : bits[bit / 64] & ~mask;
}

#endif
