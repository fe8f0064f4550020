/* record.h -- an inode as bytes on the disk.
 *
 * struct layout_inode; then its extended attributes; then its items: names of a directory, which
 * blocks the data of a file lie in, or the bytes of a link target. Reading checks the form: bytes
 * may come from any image. */
#ifndef JOURNALFS_RECORD_H
#define JOURNALFS_RECORD_H

#include "journalfs/layout.h"
#include "tree/tree.h"

struct buf;

/* Where a block of a file lies: as many blocks as its bytes take, the last of them filled up. */
struct home_data {
	struct ref ref;
	struct blob *bytes;
	uint16_t count; /* of blocks */
	uint16_t blocks[LAYOUT_PIECES];
};
extern const struct pmap_type home_data_type;
/* The blob is shared. */
struct home_data *home_data_new(struct blob *bytes, uint16_t count, const uint16_t *blocks);

static inline uint16_t record_pieces(size_t len)
{
	return (uint16_t)((len + LAYOUT_BLOCK - 1) / LAYOUT_BLOCK);
}

/* data: struct home_data by index of the block, for all that the file has; NULL: they have no
 * places yet, and only the length counts. */
void record_pack(const struct inode *inode, uint32_t nlink, uint64_t size, const struct pmap *data,
		 struct buf *out);

struct journal_record {
	struct layout_inode inode;
	const char *next, *end;
	uint32_t left; /* of xattrs, then of items */
	bool bad;      /* it is not of the form; nothing more is read */
};

struct record_xattr {
	char name[256];
	const char *value;
	uint32_t len;
};

struct record_data {
	uint64_t index;
	uint16_t len; /* in bytes */
	uint16_t blocks[LAYOUT_PIECES];
};

void record_open(struct journal_record *r, const char *bytes, size_t len);
/* Each gives the next one; false behind the last, or where it is bad. First all attributes, then
 * record_items(), then items of one sort. */
bool record_next_xattr(struct journal_record *r, struct record_xattr *ret);
void record_items(struct journal_record *r);
bool record_next_data(struct journal_record *r, struct record_data *ret);
/* A proper name of at most 255 bytes, which is not followed by NUL. */
bool record_next_name(struct journal_record *r, const char **ret_name, size_t *ret_len,
		      uint64_t *ret_ino);
/* All items: the target of a symbolic link. */
const char *record_target(struct journal_record *r, size_t *ret_len);

#endif
