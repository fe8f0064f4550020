/* reffs.h -- checkpoints of a mounted RefFS, by ioctl on any of its directories or files.
 *
 * This header is all a program needs: open a directory of the mount, fill a struct, ioctl.
 * Keys are chosen by the caller. Costs do not depend on the size of the tree.
 *
 *   REFFS_SAVE     keeps the present state under a key (replacing what was there)
 *   REFFS_RESTORE  makes the state of a key the present one; the key stays unless DISCARD.
 *                  Kernel caches are right when the call returns; objects that the restored
 *                  state does not have answer ESTALE to those who still hold them open. To
 *                  those whose working directory was removed it stays removed (EIO, once
 *                  somebody meets the restored one)
 *   REFFS_DROP     forgets a key
 *   REFFS_PICKLE   writes the state of a key, or with POOL all keys, to a file
 *   REFFS_LOAD     reads such a file into a key, or with POOL all its keys; a damaged file is
 *                  refused (EINVAL) and nothing changes
 *
 * A caller that is bound to one CPU is served on that CPU, which is several times as fast.
 *
 * ENOENT: no such key. Paths are those of the file-system daemon: give absolute ones. */
#ifndef REFFS_H
#define REFFS_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum {
	REFFS_DISCARD = 1, /* RESTORE: forget the key afterwards */
	REFFS_POOL = 2,    /* PICKLE, LOAD: all keys */
};

struct reffs_key {
	__u64 key;
	__u32 flags;
	__u32 reserved; /* 0 */
};

struct reffs_file {
	__u64 key;
	__u32 flags;
	__u32 reserved; /* 0 */
	char path[1024];
};

#define REFFS_SAVE _IOW('A', 1, struct reffs_key)
#define REFFS_RESTORE _IOW('A', 2, struct reffs_key)
#define REFFS_DROP _IOW('A', 3, struct reffs_key)
#define REFFS_PICKLE _IOW('A', 4, struct reffs_file)
#define REFFS_LOAD _IOW('A', 5, struct reffs_file)

#endif
