/* syscall.h -- calls made for real: one function per operation, raw system calls.
 *
 * A caller makes calls in the process it is used in: the fastest way, for a process that is already
 * where it should be. For one process per process of a script, see sandbox/crew.h.
 *
 * Descriptors in calls are the script's own numbers (smallest free from 3 on, as the model
 * counts them); a table maps them to real ones. Paths that begin with '/' start at the root. */
#ifndef SYSCALL_SYSCALL_H
#define SYSCALL_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

enum {
	SYSCALL_FDS_MAX = 256,
	SYSCALL_PIDS_MAX = 64,
	SYSCALL_BATCH_MAX = 128,
	SYSCALL_DATA_MAX = 64 << 20,
};

/* One process's view: descriptor table and buffers. In-process use. */
struct caller;
/* Root_fd is borrowed; chroot is the caller's. Without one, absolute paths start at root_fd
 * (exact but for absolute symbolic links and ".." above the root). The working directory and
 * umask of the calling process become the script's. NULL with errno: no memory. */
struct caller *caller_new(int root_fd);
void caller_free(struct caller *self);
/* Closes every descriptor and stream of the script and goes back to the root. */
void caller_reset(struct caller *self);
/* Makes the call. Bytes of the outcome are valid until the next call; there are at most
 * SYSCALL_DATA_MAX, and where bytes are the result num is the number that the system call gave
 * (an xattr's size, say, where only that was asked for). ENV and PROC operations are not system
 * calls of ours: ENOSYS; targets and crews serve them. */
void caller_call(struct caller *self, const struct call *c, struct outcome *ret);

#endif
