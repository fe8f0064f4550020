/* bytes.c -- the memory a tree holds alone. */
#include "tree/inode.h"

static size_t entry_bytes(const struct ref *object)
{
	return entry_size(((const struct entry *)object)->len);
}

static size_t xattr_bytes(const struct ref *object)
{
	const struct xattr *x = (const struct xattr *)object;

	return xattr_size(x->name_len, x->value_len);
}

static size_t blob_bytes(const struct ref *object)
{
	return blob_size_of((const struct blob *)object);
}

static size_t inode_bytes(const struct ref *object)
{
	const struct inode *inode = (const struct inode *)object;
	size_t bytes = sizeof(*inode) + pmap_bytes(&inode->xattrs, xattr_bytes);

	if (S_ISDIR(inode->mode))
		bytes += pmap_bytes(&inode->dir.entries, entry_bytes);
	else if (S_ISREG(inode->mode))
		bytes += pmap_bytes(&inode->file.blocks, blob_bytes);
	else if (S_ISLNK(inode->mode) && inode->target && inode->target->ref.count == 1)
		bytes += blob_bytes(&inode->target->ref);
	return bytes;
}

size_t tree_bytes(const struct tree *t)
{
	return sizeof(*t) + pmap_bytes(&t->inodes, inode_bytes);
}
