/* loss.h -- what a repair has lost.
 *
 * An object is kept where any object of the repaired file system has its content, wherever it is
 * now: a file in lost+found is not lost. */
#ifndef FSCK_LOSS_H
#define FSCK_LOSS_H

#include "damage/corruption.h"
#include "fsck/contents.h"

/* How many objects of `before` are lost, besides those that the corruption touched: the objects it
 * lies in, and what is below them. The latter are counted in *ret_touched. Names of the others are
 * added to the text, some of them. */
uint64_t loss_count(const struct contents *before, const struct contents *after,
		    const struct corruption *c, uint64_t *ret_touched, struct buf *out);

#endif
