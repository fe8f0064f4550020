/* mkfs.c -- a new journalfs; copies of one. */
#include "journalfs/journalfs.h"

#include "base/err.h"
#include "base/must.h"
#include "journalfs/home.h"
#include "journalfs/journal.h"
#include "tree/inode.h"

/* What unmounting leaves of a file system that only had its root. */
int journalfs_make(struct journalfs *fs, uint32_t root_mode, enum journal_fault fault, bool records,
		   struct err *err)
{
	struct tree tree;
	int ret;

	*fs = (struct journalfs){
		.journal.fault = fault,
		.free_blocks = LAYOUT_BLOCKS - LAYOUT_HOME,
	};
	tree_init(&tree, TREE_FIELDS_DEFAULT, true, root_mode, 0, 0);
	journal_make(&fs->journal);
	must(!journalfs_unmount(fs, &tree));
	tree_free(&tree);
	ret = ramdisk_settle(&fs->journal.disk, err);
	fs->journal.disk.records = records;
	if (ret)
		journalfs_free(fs);
	return ret;
}

struct journalfs journalfs_copy(const struct journalfs *fs)
{
	struct journalfs copy = *fs;

	copy.journal = journal_copy(&fs->journal);
	copy.committed = pmap_share(&fs->committed);
	copy.homes = pmap_share(&fs->homes);
	return copy;
}

void journalfs_free(struct journalfs *fs)
{
	journal_free(&fs->journal);
	pmap_drop(&fs->committed, &inode_type);
	pmap_drop(&fs->homes, &home_type);
	*fs = (struct journalfs){ 0 };
}
