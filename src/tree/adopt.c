/* adopt.c -- turns an observed tree into one that further calls can change.
 *
 * A file system may return any attribute values. An object that has names must not vanish because
 * its reported link count drops to 0. An object that is listed but cannot be looked up is left out;
 * the next scan reports it again. An object that we have no permission for is kept: it may exist.
 */
#include <errno.h>

#include "base/map.h"
#include "base/must.h"
#include "tree/tree.h"

struct adopter {
	struct hash_map names; /* of an object that is no directory, by number: how many */
	struct hash_map dirs;  /* directories in a directory */
};

static uint64_t *adopt_count(struct hash_map *map, uint64_t ino)
{
	return hash_map_put(map, (struct hash){ ino, 0 }, NULL);
}

static void adopt_entries(struct adopter *a, const struct tree *t, const struct inode *dir)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(t, dir->ino, &cookie)))
		if (S_ISDIR(tree_inode(t, entry->ino)->mode))
			++*adopt_count(&a->dirs, dir->ino);
		else
			++*adopt_count(&a->names, entry->ino);
}

static bool adopt_is_no_object(const struct inode *inode)
{
	return !(inode->mode & S_IFMT) && inode->error.code != EACCES && inode->error.code != EPERM;
}

/* The least link count that does not contradict the names. Of a directory not every file system
 * counts the directories in it: only 0 is wrong. What is left out goes with its last name. */
static uint32_t adopt_links(struct adopter *a, const struct inode *inode)
{
	uint64_t names;

	if (S_ISDIR(inode->mode))
		return inode->nlink ? inode->nlink
				    : 2 + (uint32_t)*adopt_count(&a->dirs, inode->ino);
	names = *adopt_count(&a->names, inode->ino);
	return names > inode->nlink || adopt_is_no_object(inode) ? (uint32_t)names : inode->nlink;
}

/* Leaves out the names of what cannot be looked at, and of what a walk remarks. */
static void adopt_leave_out(struct tree *t, const struct tree *seen, const struct inode *dir)
{
	const struct entry *entry;
	uint64_t cookie = 0;

	while ((entry = tree_next_entry(seen, dir->ino, &cookie)))
		if (adopt_is_no_object(tree_inode(seen, entry->ino)))
			tree_unlink(t, dir->ino, entry->name, entry->len);
}

void tree_adopt(struct tree *t)
{
	struct adopter a = { HASH_MAP_INIT, HASH_MAP_INIT };
	const struct inode *inode;
	struct tree seen = tree_copy(t);
	uint64_t ino = 0;

	for (bool first = true;
	     (inode = (const struct inode *)pmap_next(&seen.inodes, first, &ino)); first = false)
		if (S_ISDIR(inode->mode))
			adopt_entries(&a, &seen, inode);
	for (bool first = true;
	     (inode = (const struct inode *)pmap_next(&seen.inodes, first, &ino)); first = false) {
		uint32_t links = adopt_links(&a, inode);

		if (links != inode->nlink)
			tree_edit(t, ino)->nlink = links;
	}
	for (bool first = true;
	     (inode = (const struct inode *)pmap_next(&seen.inodes, first, &ino)); first = false)
		if (S_ISDIR(inode->mode))
			adopt_leave_out(t, &seen, inode);
	tree_free(&seen);
	hash_map_free(&a.names);
	hash_map_free(&a.dirs);
	tree_settle(t);
}
