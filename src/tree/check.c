/* check.c -- whether a tree is a file system.
 *
 * First the tree is walked from its root, directory by directory, and the names of every object
 * are counted; then every object is looked at, whether it was met or not. */
#include "tree/check.h"

#include <errno.h>
#include <linux/fs.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "tree/inode.h"

/* Numbers from here on are never given: there is room above them for all that will be made. */
static const uint64_t ino_end = (uint64_t)1 << 62;

struct tree_checker {
	const struct tree *tree;
	struct hash_map names; /* of an object, by number: how many */
	struct buf dirs;       /* uint64_t: directories yet to be looked into */
	uint64_t blocks;
	struct err *err;
	int error;
};

static void checker_wrong(struct tree_checker *c, uint64_t ino, const char *what)
{
	if (!c->error)
		c->error = err_set(c->err, EINVAL, "object %llu %s", (unsigned long long)ino, what);
}

static void wrong_count(struct tree_checker *c, const struct inode *inode, uint64_t is)
{
	if (!c->error)
		c->error = err_set(c->err, EINVAL, "object %llu has link count %u instead of %llu",
				   (unsigned long long)inode->ino, inode->nlink,
				   (unsigned long long)is);
}

/* ---- names ---- */

static void check_entry(struct tree_checker *c, const struct inode *dir, const struct entry *entry)
{
	const struct inode *inode = tree_inode(c->tree, entry->ino);
	uint64_t *names = hash_map_put(&c->names, (struct hash){ entry->ino, 0 }, NULL);

	++*names;
	if (!inode)
		checker_wrong(c, dir->ino, "has an entry for a missing object");
	else if (!entry->len || entry->len > CHECK_NAME_MAX || strlen(entry->name) != entry->len ||
		 strchr(entry->name, '/') || !strcmp(entry->name, ".") ||
		 !strcmp(entry->name, ".."))
		checker_wrong(c, dir->ino, "has an entry with an invalid or too long name");
	else if (!S_ISDIR(inode->mode))
		return;
	else if (inode->ino == TREE_ROOT || *names > 1)
		checker_wrong(c, inode->ino, "is a directory with two names");
	else if (inode->dir.parent != dir->ino)
		checker_wrong(c, inode->ino, "is a directory with a wrong parent");
	else
		buf_add(&c->dirs, &inode->ino, sizeof(inode->ino));
}

static void check_dir(struct tree_checker *c, uint64_t ino)
{
	const struct inode *dir = tree_inode(c->tree, ino);
	const struct entry *entry;
	uint64_t cookie = 0, links = 2;

	while (!c->error && (entry = tree_next_entry(c->tree, ino, &cookie))) {
		check_entry(c, dir, entry);
		links += !c->error && S_ISDIR(tree_inode(c->tree, entry->ino)->mode);
	}
	if (dir->nlink != links)
		wrong_count(c, dir, links);
}

static void tree_check_names(struct tree_checker *c)
{
	uint64_t ino = TREE_ROOT;
	const struct inode *root = tree_inode(c->tree, ino);

	if (!root || !S_ISDIR(root->mode) || root->dir.parent != TREE_ROOT) {
		checker_wrong(c, ino,
			      "is the root, and must be a directory that is its own parent");
		return;
	}
	buf_add(&c->dirs, &ino, sizeof(ino));
	while (c->dirs.len && !c->error) {
		c->dirs.len -= sizeof(ino);
		memcpy(&ino, c->dirs.data + c->dirs.len, sizeof(ino));
		check_dir(c, ino);
	}
}

/* ---- objects ---- */

static void check_attributes(struct tree_checker *c, const struct inode *inode)
{
	if (inode->ino >= c->tree->next_ino || !inode->ino)
		checker_wrong(c, inode->ino, "has a number beyond the last used one");
	if (!inode_has_type(inode->mode) || inode->mode & ~(uint32_t)(S_IFMT | 07777))
		checker_wrong(c, inode->ino, "has an unknown type or mode");
	if (inode->flags & ~(uint32_t)(FS_IMMUTABLE_FL | FS_APPEND_FL))
		checker_wrong(c, inode->ino, "has unknown flags");
	if (inode->rdev && !S_ISCHR(inode->mode) && !S_ISBLK(inode->mode))
		checker_wrong(c, inode->ino, "has a device number but is not a device");
}

static bool is_xattr_name(const char *name)
{
	static const char *const spaces[] = { "user.", "trusted.", "security.", "system." };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
		if (!strncmp(name, spaces[i], strlen(spaces[i])))
			return name[strlen(spaces[i])];
	}
	return false;
}

static void check_xattrs(struct tree_checker *c, const struct inode *inode)
{
	const struct xattr *x;
	uint64_t cookie = 0;

	while ((x = tree_next_xattr(inode, &cookie))) {
		if (x->name_len > CHECK_NAME_MAX || !is_xattr_name(x->bytes))
			checker_wrong(c, inode->ino,
				      "has an extended attribute whose name cannot be");
		if (x->value_len > CHECK_XATTR_MAX)
			checker_wrong(c, inode->ino, "has an extended attribute that is too long");
	}
}

static void check_blocks(struct tree_checker *c, const struct inode *file)
{
	const struct blob *blob;
	uint64_t index = 0;

	if (file->size > INT64_MAX)
		checker_wrong(c, file->ino, "is larger than any file");
	for (bool first = true;
	     (blob = (const struct blob *)pmap_next(&file->file.blocks, first, &index));
	     first = false) {
		uint64_t offset = index * TREE_BLOCK;

		if (index > INT64_MAX / TREE_BLOCK || blob->len > TREE_BLOCK)
			checker_wrong(c, file->ino, "has a block that cannot be");
		else if (blob->len && (offset >= file->size || blob->len > file->size - offset))
			checker_wrong(c, file->ino, "has data beyond its size");
	}
	c->blocks += file->file.blocks.count;
}

static void check_link_target(struct tree_checker *c, const struct inode *link)
{
	const struct blob *target = link->target;

	if (!target || !target->len || target->len > CHECK_TARGET_MAX ||
	    memchr(target->bytes, 0, target->len))
		checker_wrong(c, link->ino, "is a symbolic link whose target cannot be");
	else if (target->len != link->size)
		checker_wrong(c, link->ino, "is a symbolic link of another size than its target's");
}

static void check_inode(struct tree_checker *c, const struct inode *inode)
{
	const uint64_t *names = hash_map_get(&c->names, (struct hash){ inode->ino, 0 });
	uint64_t links = names ? *names : 0;

	check_attributes(c, inode);
	check_xattrs(c, inode);
	if (S_ISREG(inode->mode))
		check_blocks(c, inode);
	else if (S_ISLNK(inode->mode))
		check_link_target(c, inode);
	else if (inode->size)
		checker_wrong(c, inode->ino, "has a size and can have no data");
	if (!S_ISDIR(inode->mode) && inode->nlink != links)
		wrong_count(c, inode, links);
	if (S_ISDIR(inode->mode) && !links && inode->nlink && inode->ino != TREE_ROOT)
		checker_wrong(c, inode->ino, "is a directory that nothing leads to");
}

int tree_check(const struct tree *t, struct err *err)
{
	struct tree_checker c = { .tree = t, .names = HASH_MAP_INIT, .err = err };
	const struct ref *inode;
	uint64_t ino = 0;

	if (t->next_ino > ino_end)
		c.error = err_set(err, EINVAL, "no inode number is left for new objects");
	tree_check_names(&c);
	for (bool first = true; !c.error && (inode = pmap_next(&t->inodes, first, &ino));
	     first = false)
		check_inode(&c, (const struct inode *)inode);
	if (!c.error && c.blocks != t->blocks)
		c.error = err_set(err, EINVAL, "%llu blocks are counted, and there are %llu",
				  (unsigned long long)t->blocks, (unsigned long long)c.blocks);
	hash_map_free(&c.names);
	buf_free(&c.dirs);
	return c.error;
}
