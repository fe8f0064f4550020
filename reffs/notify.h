/* notify.h -- after a restore, notifications invalidate stale entries of the kernel caches.
 *
 * A notification takes locks in the kernel that other requests may hold while they wait for us. So
 * at most one thread sends notifications, for all, and the other threads continue to serve. The
 * reply to a restore is sent after its notifications. */
#ifndef REFFS_NOTIFY_H
#define REFFS_NOTIFY_H

#include "base/buf.h"
#include "reffs/request.h"

struct notifier;

struct notifier *notifier_new(struct fuse_session *session);
void notifier_free(struct notifier *n);
/* Returns when all notifications are sent and no more will come: the mount is about to end. */
void notifier_finish(struct notifier *n);

/* What the kernel may hold that differs between the two states; appended to out. */
void notifier_compare(const struct core *core, const struct state *before, struct buf *out);
/* Sends the notifications and then the reply, or leaves both to the thread that is already
 * sending. Takes the buffer over. */
void notifier_send(struct notifier *n, struct buf *stale, fuse_req_t req);

#endif
