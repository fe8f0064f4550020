/* notify.h -- after a restore, the kernel is told what it must no longer believe.
 *
 * Telling takes locks in the kernel that other requests may hold while they wait for us. So at
 * most one thread tells, for all, and the others go on serving; there must be others. A request
 * that restored is answered when its part is told. */
#ifndef REFFS_NOTIFY_H
#define REFFS_NOTIFY_H

#include "base/buf.h"
#include "reffs/request.h"

struct notifier;

struct notifier *notifier_new(struct fuse_session *session);
void notifier_free(struct notifier *n);
/* Returns when nobody is telling, and nobody will: the mount is about to end. */
void notifier_finish(struct notifier *n);

/* What the kernel may hold that differs between the two states; appended to out. */
void notifier_compare(const struct core *core, const struct state *before, struct buf *out);
/* Tells the kernel, then answers the request with success, or has it done by the thread that is
 * telling already. Takes the buffer over. */
void notifier_tell(struct notifier *n, struct buf *stale, fuse_req_t req);

#endif
