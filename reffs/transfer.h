/* transfer.h -- pickles on their way between the daemon and a client, piece by piece.
 *
 * A thread watches the client processes and frees the transfers of a client that died. A process of
 * a foreign PID namespace cannot be watched; its transfers are freed when there are too many. */
#ifndef REFFS_TRANSFER_H
#define REFFS_TRANSFER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

struct transfers;
struct err;

int transfers_new(struct transfers **ret, struct err *err);
void transfers_free(struct transfers *t); /* not in use any more; may be NULL */

/* Begins a transfer of these bytes, which it takes over. Its number; or -EBUSY, or
 * -ESRCH where the client is gone already, and they are still the caller's. */
int64_t transfers_begin(struct transfers *t, pid_t client, struct buf *bytes);
/* The next of its bytes; behind the last it ends. How many, or -ESTALE. */
int transfers_read(struct transfers *t, uint64_t number, char *to, size_t max);
/* More bytes for it; -ESTALE. */
int transfers_append(struct transfers *t, uint64_t number, const char *bytes, size_t len);
/* Ends it; all of its bytes are the caller's. -ESTALE. */
int transfers_finish(struct transfers *t, uint64_t number, struct buf *ret);
/* Bytes under way. */
size_t transfers_bytes(struct transfers *t);

#endif
