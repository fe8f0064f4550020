/* reffs.h -- checkpoints of a mounted RefFS, by ioctl on any of its directories or files.
 *
 * This header is all a program needs: open a directory of the mount, fill a struct, ioctl.
 * Keys are chosen by the caller. Costs do not depend on the size of the tree.
 *
 *   REFFS_SAVE     saves the current state under a key (replacing an older one)
 *   REFFS_RESTORE  makes the state of a key the current one; the key stays unless DISCARD.
 *                  Kernel caches are valid when the call returns. Calls on open files that
 *                  the restored state does not have return ESTALE. A process whose working
 *                  directory was removed stays in the removed one (EIO after a lookup of the
 *                  restored one)
 *   REFFS_DROP     deletes a key
 *   REFFS_PICKLE   returns the state of a key, or with POOL all keys, as bytes, piece by piece
 *   REFFS_LOAD     takes such bytes, piece by piece, and puts their state under a key, or with
 *                  POOL each of their states under its own; what is damaged or no file system
 *                  is refused (EINVAL) and nothing changes
 *
 * The bytes of a pickle cross in pieces, one ioctl each, so the caller reads and writes the
 * file. It may be anywhere, even on the mount itself. The first piece has
 * transfer 0, and is answered with the number that the following ones carry.
 *
 *   PICKLE  key and flags of the first piece say what is wanted, as it is at that moment. Every
 *           answer brings `len` bytes; fewer than REFFS_PIECE_MAX: these are the last.
 *   LOAD    every piece brings `len` bytes. Key and flags of the one marked LAST count; it ends
 *           the transfer and answers whether the state is there.
 *   GIVE_UP ends a transfer of either kind early. So does the end of the process that began it.
 *
 * A transfer that failed has ended. Where the daemon knows the reason, the flags of its answer
 * have REASON and the bytes are a text. reffs/client.h has all that as two functions.
 *
 * A caller that is bound to one CPU is served on that CPU, which is several times as fast.
 *
 * EPERM: not root, nor who mounted it. ENOENT: no such key. ENOSPC: a limit of the mount (number
 * of saved states, memory) is reached. ESTALE: no such transfer. EBUSY: too many transfers.
 * EINVAL: unknown flags, a reserved field that is not 0, or another version of this header. */
#ifndef REFFS_H
#define REFFS_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum {
	REFFS_DISCARD = 1, /* RESTORE: forget the key afterwards */
	REFFS_POOL = 2,    /* PICKLE, LOAD: all keys */
	REFFS_LAST = 4,    /* LOAD: nothing follows */
	REFFS_GIVE_UP = 8, /* PICKLE, LOAD: nothing more is wanted */
	REFFS_REASON = 16, /* in an answer: bytes say why it failed */
};

struct reffs_key {
	__u64 key;
	__u32 flags;
	__u32 reserved; /* 0 */
};

enum { REFFS_PIECE_MAX = 16320 }; /* an ioctl of FUSE carries no more than 16,383 in all */

struct reffs_piece {
	__u64 key;
	__u32 flags;
	__u32 len;
	__u64 transfer;
	__u64 reserved; /* 0 */
	char bytes[REFFS_PIECE_MAX];
};

#define REFFS_SAVE _IOW('A', 1, struct reffs_key)
#define REFFS_RESTORE _IOW('A', 2, struct reffs_key)
#define REFFS_DROP _IOW('A', 3, struct reffs_key)
#define REFFS_PICKLE _IOWR('A', 4, struct reffs_piece)
#define REFFS_LOAD _IOWR('A', 5, struct reffs_piece)

#endif
