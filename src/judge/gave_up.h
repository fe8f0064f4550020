/* gave_up.h -- is what differs a consequence of giving up after a failure (model/giving_up.h)? */
#ifndef JUDGE_GAVE_UP_H
#define JUDGE_GAVE_UP_H

#include "judge/discrepancy.h"
#include "target/target.h"

/* 1 if the discrepancy is a consequence of a failure. Either the file system, in a state where that
 * may be, has given up, or did before it was mounted again, and all that was synced is still there;
 * an error after such a mount has to be explained by what is there. Or it continues, and has
 * dropped data that could not be written. 0 if not: what differs is wrong. The target is left in
 * any state. */
int judge_gave_up(struct target *t, const struct model *m, const struct state *s,
		  const struct call *c, const struct discrepancy *d, struct err *err);

#endif
