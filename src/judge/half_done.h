/* half_done.h -- what a call that runs out of space may leave behind. */
#ifndef JUDGE_HALF_DONE_H
#define JUDGE_HALF_DONE_H

#include <stdbool.h>

#include "judge/discrepancy.h"
#include "op/op.h"
#include "tree/tree.h"

/* Whether all facts of *d follow from the call having done a part of its work before it returned
 * d->answer: a file that is new, or longer, or has new bytes where the call was to write. What was
 * there elsewhere is to stay. */
bool is_half_done(const struct tree *expected, const struct tree *seen, const struct call *c,
		  const struct discrepancy *d);

/* Of such facts: there is a new object, and nothing else is different. What half of another call
 * has changed may be in memory only: a truncate of Btrfs that fails clears pages, not the disk. */
bool is_only_made(const struct discrepancy *d);

#endif
