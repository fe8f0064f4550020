/* examine.h -- operations that examine a file system from outside: fsck() and seek_space().
 *
 * Unlike other calls they are not made by what serves the file system, but by us: the one runs a
 * program on a copy of the disk, the other saves the state, repeats calls on a fresh file system,
 * and goes back. */
#ifndef TARGET_EXAMINE_H
#define TARGET_EXAMINE_H

#include "target/target.h"

static inline bool op_examines(enum op op)
{
	return op == OP_fsck || op == OP_seek_space;
}

/* Makes a call of an operation that examines. ENOSYS is the outcome where the target does not
 * support it. Bytes of the outcome are the target's, until the next such call. */
int examine_call(struct target *t, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err);
/* Removes everything, and asks what is free then; false where something cannot be removed. No file
 * is open. */
bool examine_emptied(struct target *t, struct statfs_result *ret);

#endif
