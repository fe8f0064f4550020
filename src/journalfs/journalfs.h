/* journalfs.h -- a small journaling file system that keeps a tree on a disk.
 *
 * It serves no calls: its caller commits a tree, and gets it back by mounting. It is whole: a
 * crash at any point, with any order of the requests that no flush separates, leaves a tree that
 * was committed, and none older than the last commit that has returned. With a fault (faults.def)
 * it is broken in one known way.
 *
 * All parts are persistent: a copy costs a few counts and the bitmaps. A commit costs what has
 * changed since the one before, mounting what is there. */
#ifndef JOURNALFS_JOURNALFS_H
#define JOURNALFS_JOURNALFS_H

#include "journalfs/journal_disk.h"
#include "journalfs/layout.h"

struct err;

struct journalfs {
	struct journal journal;
	struct pmap committed; /* struct inode: what was committed last */
	struct pmap homes;     /* struct home (home.h) by number of the inode */
	uint64_t used[LAYOUT_BLOCKS / 64];
	uint64_t slots[LAYOUT_SLOTS / 64]; /* of the map, in use */
	uint32_t free_blocks;
};

/* Why something is committed. */
enum commit_reason {
	COMMIT_UNAWAITED, /* it is time; no call waits for it */
	COMMIT_SYNC,
	COMMIT_FSYNC,
	COMMIT_FDATASYNC,
	COMMIT_UNMOUNT,
};

/* A tree as it was read from the disk. */
struct mounted {
	struct tree seen; /* as it is */
	struct tree tree; /* the same with the right link counts, and without what cannot be read */
	bool damaged;     /* they differ */
};

/* A disk with an empty root directory of this mode, not mounted. */
int journalfs_make(struct journalfs *fs, uint32_t root_mode, enum journal_fault fault, bool records,
		   struct err *err);
struct journalfs journalfs_copy(const struct journalfs *fs);
void journalfs_free(struct journalfs *fs);

/* Recovers the file system on fs->journal.disk and reads it. 0, or an errno: then there is no tree,
 * and nothing can be committed. Freed by the caller. */
int journalfs_mount(struct journalfs *fs, unsigned fields, struct mounted *ret);
void mounted_free(struct mounted *m);

/* Whether there is space for the tree, and for what was committed until it is replaced. */
bool journalfs_fits(const struct journalfs *fs, const struct tree *tree);
/* ino: of what fsync and fdatasync name. 0, or ENOSPC: nothing is committed. */
int journalfs_commit(struct journalfs *fs, const struct tree *tree, enum commit_reason reason,
		     uint64_t ino);
/* Commits and brings everything home. The file system must be mounted again. */
int journalfs_unmount(struct journalfs *fs, const struct tree *tree);

#endif
