/* inode.h -- what the files of src/tree share among themselves. */
#ifndef TREE_INODE_H
#define TREE_INODE_H

#include "tree/tree.h"

/* One seed for each kind of thing hashed, so that equal bytes of two kinds never agree. */
enum hash_seed { SEED_INODE = 1, SEED_PLACE, SEED_BLOCK, SEED_XATTR, SEED_TARGET };

/* Entries, attributes and blobs are never edited, only replaced. */
extern const struct pmap_type inode_type, entry_type, xattr_type, blob_type;

static inline size_t entry_size(size_t name_len)
{
	return sizeof(struct entry) + name_len + 1;
}

static inline size_t xattr_size(size_t name_len, size_t value_len)
{
	return sizeof(struct xattr) + name_len + 1 + value_len + 1;
}

static inline size_t blob_size(size_t len)
{
	return sizeof(struct blob) + len + 1;
}

static inline size_t blob_size_of(const struct blob *blob)
{
	return blob->is_made ? sizeof(*blob) + sizeof(struct blob_part) : blob_size(blob->len);
}

/* Of the seven types that a file can have. */
static inline bool inode_has_type(uint32_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISFIFO(mode) ||
	       S_ISSOCK(mode) || S_ISCHR(mode) || S_ISBLK(mode);
}

/* A new inode of this number without names, holds or contents. */
struct inode *inode_add(struct tree *t, uint64_t ino, uint32_t mode);
/* Frees the inode if it has neither names nor holds, nor removed directories that were in it and
 * are held. Says whether it did. */
bool inode_reap(struct tree *t, uint64_t ino);
/* Its part of the tree's hash, were its places these. */
struct hash inode_term(const struct inode *inode, unsigned fields, struct hash places);

/* Which of mode, owner, link count, flags, device and size differ, of those in `fields`, as enum
 * tree_field; the size is that of TREE_DATA. Neither is a directory; the first may have no type. */
unsigned inode_attributes_differ(const struct inode *a, const struct inode *b, unsigned fields);

/* The bytes as a blob, with its hash only where wanted. */
struct blob *blob_make(const void *data, size_t len, bool hashed);
/* These bytes, which are the first of the part, kept as that. */
struct blob *blob_of_part(struct blob_part part, const char *bytes, size_t len);

/* Gives an inode a name; link counts stay. */
void name_add(struct tree *t, uint64_t dir, const char *name, size_t len, uint64_t ino);
/* Takes a name away; an object without names goes, whatever its link count says, and that of the
 * directory stays. */
void name_drop(struct tree *t, uint64_t dir, const char *name, size_t len);

#endif
