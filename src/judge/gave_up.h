/* gave_up.h -- is what differs a consequence of giving up after a failure (model/giving_up.h)? */
#ifndef JUDGE_GAVE_UP_H
#define JUDGE_GAVE_UP_H

#include "target/target.h"

/* 1 if the file system, in a state where that may be, has given up, or did before it was mounted
 * anew, and all that was synced is still there. 0 if not: what differs is wrong. So is an error of
 * the call, 0 for none, that what was found after a mount does not explain. The target is left in
 * any state. */
int judge_gave_up(struct target *t, const struct model *m, const struct state *s,
		  const struct call *c, int error, struct err *err);

#endif
