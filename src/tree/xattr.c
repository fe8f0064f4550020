/* xattr.c -- extended attributes of an inode. */
#include <string.h>

#include "tree/inode.h"
#include "tree/named.h"
#include "tree/pool.h"

static void xattr_free(struct ref *object)
{
	const struct xattr *x = (const struct xattr *)object;

	pool_free(object, xattr_size(x->name_len, x->value_len));
}

const struct pmap_type xattr_type = { .free = xattr_free };

static const struct named_kind xattr_kind = {
	.type = &xattr_type,
	.len_at = offsetof(struct xattr, name_len),
	.name_at = offsetof(struct xattr, bytes),
};

/* Name and value with the NUL between them, which no name contains. */
static struct hash xattr_term(const struct xattr *x)
{
	return hash128(x->bytes, x->name_len + 1 + (size_t)x->value_len, SEED_XATTR);
}

static struct xattr *xattr_new(const char *name, size_t name_len, const void *value, size_t len)
{
	struct xattr *x = pool_alloc(xattr_size(name_len, len));

	*x = (struct xattr){ .ref.count = 1, .value_len = len, .name_len = name_len };
	memcpy(x->bytes, name, name_len + 1);
	if (len)
		memcpy(x->bytes + name_len + 1, value, len);
	x->bytes[name_len + 1 + len] = '\0';
	return x;
}

const struct xattr *tree_xattr(const struct inode *inode, const char *name)
{
	return (const struct xattr *)named_find(&inode->xattrs, &xattr_kind, name, strlen(name));
}

void tree_set_xattr(struct tree *t, uint64_t ino, const char *name, const void *value, size_t len)
{
	struct inode *inode = tree_edit(t, ino);
	const struct xattr *old = tree_xattr(inode, name);
	struct xattr *x = xattr_new(name, strlen(name), value, len);

	if (t->hashed) {
		if (old)
			inode->xattr_hash = hash_sub(inode->xattr_hash, xattr_term(old));
		inode->xattr_hash = hash_add(inode->xattr_hash, xattr_term(x));
	}
	named_put(&inode->xattrs, &xattr_kind, &x->ref);
}

bool tree_remove_xattr(struct tree *t, uint64_t ino, const char *name)
{
	const struct xattr *old = tree_xattr(tree_inode(t, ino), name);
	struct inode *inode;

	if (!old)
		return false;
	inode = tree_edit(t, ino);
	if (t->hashed)
		inode->xattr_hash = hash_sub(inode->xattr_hash, xattr_term(old));
	named_remove(&inode->xattrs, &xattr_kind, name, strlen(name));
	return true;
}

const struct xattr *tree_next_xattr(const struct inode *inode, uint64_t *cookie)
{
	return (const struct xattr *)named_next(&inode->xattrs, cookie);
}
