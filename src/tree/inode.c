/* inode.c -- trees and their inodes: life, edits, and the hash that follows them.
 *
 * The hash is the sum of one term per reachable inode. An edit puts the inode on the list of
 * edits, which runs through the inodes themselves by number, so that a copy of a tree with edits
 * under way is as good as the tree; settling replaces the terms of those on the list. An inode
 * that is freed leaves the list, and takes its term with it. */
#include "tree/inode.h"

#include <string.h>

#include "base/must.h"
#include "tree/pool.h"

static const uint64_t edits_end = UINT64_MAX;

static struct ref *inode_copy(const struct ref *object)
{
	const struct inode *old = (const struct inode *)object;
	struct inode *inode = pool_alloc(sizeof(*inode));

	*inode = *old;
	inode->ref.count = 1;
	inode->xattrs = pmap_share(&old->xattrs);
	if (S_ISDIR(inode->mode))
		inode->dir.entries = pmap_share(&old->dir.entries);
	else if (S_ISREG(inode->mode))
		inode->file.blocks = pmap_share(&old->file.blocks);
	else if (S_ISLNK(inode->mode) && inode->target)
		inode->target->ref.count++;
	return &inode->ref;
}

static void inode_free(struct ref *object)
{
	struct inode *inode = (struct inode *)object;

	pmap_drop(&inode->xattrs, &xattr_type);
	if (S_ISDIR(inode->mode))
		pmap_drop(&inode->dir.entries, &entry_type);
	else if (S_ISREG(inode->mode))
		pmap_drop(&inode->file.blocks, &blob_type);
	else if (S_ISLNK(inode->mode))
		blob_drop(inode->target);
	pool_free(inode, sizeof(*inode));
}

const struct pmap_type inode_type = { .copy = inode_copy, .free = inode_free };

/* Whether it has a name (or is the root), so that it takes part in the hash. */
static bool inode_reachable(const struct inode *inode)
{
	return inode->places.lo | inode->places.hi || inode->ino == TREE_ROOT;
}

/* What the term of an inode is the hash of; what does not take part is 0. */
struct hash_term {
	uint32_t mode, uid, gid, nlink, flags;
	int32_t error;
	uint64_t size, rdev;
	int64_t access, modify;
	struct hash places, xattrs, contents;
};
_Static_assert(sizeof(struct hash_term) == 104, "padding would be hashed");

static struct hash contents_hash(const struct inode *inode)
{
	struct hash none = { 0, 0 };

	if (S_ISREG(inode->mode))
		return inode->file.data;
	if (S_ISLNK(inode->mode) && inode->target)
		return hash128(inode->target->bytes, inode->target->len, SEED_TARGET);
	return none;
}

struct hash inode_term(const struct inode *inode, unsigned fields, struct hash places)
{
	bool is_link = S_ISLNK(inode->mode);
	struct hash_term term = { .mode = inode->mode & S_IFMT, .places = places };

	if (!(inode->mode & S_IFMT)) {
		term.error = inode->error.code;
		term.contents = hash128(inode->error.call, strlen(inode->error.call), 0);
		return hash128(&term, sizeof(term), SEED_INODE);
	}
	if (fields & (is_link ? TREE_SYMLINK_MODE : TREE_MODE))
		term.mode = inode->mode;
	if (fields & TREE_OWNER) {
		term.uid = inode->uid;
		term.gid = inode->gid;
	}
	if (fields & (S_ISDIR(inode->mode) ? TREE_NLINK_DIR : TREE_NLINK))
		term.nlink = inode->nlink;
	if (fields & TREE_FLAGS)
		term.flags = inode->flags;
	if (fields & TREE_RDEV)
		term.rdev = inode->rdev;
	if (fields & TREE_TIMES) {
		term.access = is_link ? 0 : inode->times.access;
		term.modify = inode->times.modify;
	}
	if (fields & TREE_XATTR)
		term.xattrs = inode->xattr_hash;
	if (fields & TREE_DATA) {
		term.size = inode->size;
		term.contents = contents_hash(inode);
	}
	return hash128(&term, sizeof(term), SEED_INODE);
}

unsigned inode_attributes_differ(const struct inode *a, const struct inode *b, unsigned fields)
{
	unsigned differ = 0;

	if ((a->mode ^ b->mode) & ~(uint32_t)S_IFMT)
		differ |= S_ISLNK(b->mode) ? TREE_SYMLINK_MODE : TREE_MODE;
	if (a->uid != b->uid || a->gid != b->gid)
		differ |= TREE_OWNER;
	if (a->nlink != b->nlink)
		differ |= TREE_NLINK;
	if (a->flags != b->flags)
		differ |= TREE_FLAGS;
	if (a->rdev != b->rdev)
		differ |= TREE_RDEV;
	if (S_ISREG(b->mode) && a->size != b->size)
		differ |= TREE_DATA;
	return differ & fields;
}

struct inode *inode_add(struct tree *t, uint64_t ino, uint32_t mode)
{
	struct inode *inode = pool_alloc(sizeof(*inode));

	*inode = (struct inode){ .ref.count = 1, .mode = mode, .ino = ino };
	pmap_put(&t->inodes, &inode_type, ino, &inode->ref);
	return inode;
}

void tree_init(struct tree *t, unsigned fields, bool hashed, uint32_t mode, uint32_t uid,
	       uint32_t gid)
{
	struct inode *root;

	*t = (struct tree){ .fields = fields, .hashed = hashed, .next_ino = TREE_ROOT + 1 };
	root = inode_add(t, TREE_ROOT, S_IFDIR | (mode & ~S_IFMT));
	root->uid = uid;
	root->gid = gid;
	root->nlink = 2;
	root->dir.parent = TREE_ROOT;
	if (hashed)
		t->hash = root->term = inode_term(root, fields, root->places);
}

struct tree tree_copy(const struct tree *t)
{
	struct tree copy = *t;

	copy.inodes = pmap_share(&t->inodes);
	return copy;
}

void tree_free(struct tree *t)
{
	pmap_drop(&t->inodes, &inode_type);
	*t = (struct tree){ 0 };
}

/* The inode as this tree's own, without a note that it changes. */
static struct inode *inode_own(struct tree *t, uint64_t ino)
{
	struct inode *inode = (struct inode *)pmap_edit(&t->inodes, &inode_type, ino);

	must(inode);
	return inode;
}

struct inode *tree_edit(struct tree *t, uint64_t ino)
{
	struct inode *inode = inode_own(t, ino);

	if (t->hashed && !inode->next_edit) {
		inode->next_edit = t->edited ? t->edited : edits_end;
		t->edited = ino;
	}
	return inode;
}

void tree_settle(struct tree *t)
{
	while (t->edited) {
		struct inode *inode = inode_own(t, t->edited);

		t->edited = inode->next_edit == edits_end ? 0 : inode->next_edit;
		inode->next_edit = 0;
		t->hash = hash_sub(t->hash, inode->term);
		inode->term = (struct hash){ 0, 0 };
		if (inode_reachable(inode))
			inode->term = inode_term(inode, t->fields, inode->places);
		t->hash = hash_add(t->hash, inode->term);
	}
}

uint64_t tree_new(struct tree *t, uint32_t mode, uint32_t uid, uint32_t gid, int64_t now)
{
	struct inode *inode = inode_add(t, t->next_ino++, mode);

	inode->uid = uid;
	inode->gid = gid;
	inode->times = (struct inode_times){ now, now, now, now };
	return inode->ino;
}

/* Takes an inode out of the list of edits. */
static void edits_remove(struct tree *t, const struct inode *inode)
{
	uint64_t before = t->edited;

	if (!inode->next_edit)
		return;
	if (before == inode->ino) {
		t->edited = inode->next_edit == edits_end ? 0 : inode->next_edit;
		return;
	}
	while (tree_inode(t, before)->next_edit != inode->ino)
		before = tree_inode(t, before)->next_edit;
	inode_own(t, before)->next_edit = inode->next_edit;
}

bool inode_reap(struct tree *t, uint64_t ino)
{
	const struct inode *inode = tree_inode(t, ino);

	if (inode->nlink || inode->holds || (S_ISDIR(inode->mode) && inode->dir.orphans))
		return false;
	edits_remove(t, inode);
	t->hash = hash_sub(t->hash, inode->term);
	t->blocks -= tree_blocks(inode);
	pmap_remove(&t->inodes, &inode_type, ino);
	return true;
}

void tree_hold(struct tree *t, uint64_t ino)
{
	inode_own(t, ino)->holds++;
}

void tree_unhold(struct tree *t, uint64_t ino)
{
	struct inode *inode = inode_own(t, ino);
	uint64_t parent;

	must(inode->holds);
	inode->holds--;
	/* A removed directory lets go of its parent, which may have been removed as well. */
	for (;; ino = parent) {
		inode = inode_own(t, ino);
		parent = S_ISDIR(inode->mode) ? inode->dir.parent : 0;
		if (!inode_reap(t, ino) || !parent)
			return;
		inode_own(t, parent)->dir.orphans--;
	}
}

void tree_set_target(struct tree *t, uint64_t ino, const char *target, size_t len)
{
	struct inode *inode = tree_edit(t, ino);

	must(S_ISLNK(inode->mode));
	blob_drop(inode->target);
	inode->target = blob_make(target, len, t->hashed);
	inode->size = len;
}
