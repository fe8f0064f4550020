/* giving_up.h -- a file system that gives up after a failure.
 *
 * A failed disk request, or a failed allocation within a transaction (trait memory_gives_up), may
 * make a file system give up: until the next mount it is read-only (EROFS) or shut down (EIO), and
 * unsynced changes may be lost. This is by design, and no call reports when it happens. A state is
 * therefore
 *
 *	sound      nothing has failed since it was mounted
 *	doubtful   something may have failed: it may have given up, now or later
 *	given up   a call returned EROFS: no name and no attribute changes any more
 *	recovered  mounted again after that: unsynced changes may be lost
 *
 * Objects that no call has touched since the last sync must exist in any case. The trees of the
 *model are persistent, so these are the inodes that the tree of the last sync and the present one
 *share. */
#ifndef MODEL_GIVING_UP_H
#define MODEL_GIVING_UP_H

#include "model/model.h"

struct step;

/* The failures that wait for the next call, or were met before it, may make the file system give
 * up; or may have done so before it was mounted. */
bool giving_up_possible(const struct model *m, const struct state *s);
/* Is what was seen of a file system that gave up as it may be? All that was synced is there. */
bool giving_up_explains(const struct state *s, const struct tree *seen);
/* From now on, what is synced is remembered. */
void giving_up_watch(struct state *s);

/* Inside the model: a call on its way. Before the operation: one that has given up changes
 * nothing. Behind it: which errors are allowed besides. At its end, with the errno that came of
 * it: where that leads. */
void giving_up_before(struct step *x);
void giving_up_allow(struct step *x);
void giving_up_after(const struct model *m, struct state *s, const struct call *c, int error);

#endif
