/* times.h -- times of files, judged without a clock.
 *
 * The model counts calls; a time of its is the number of the call that set it. Whatever the real
 * clock says, the times that stat returns must then be in the same order: a time that no call has
 * set is still the same, one that a later call has set is not less, and if time was let pass in
 * between it is more. A time that the script itself has set is returned as it was set.
 *
 * Some calls may or may not set a time: reading that of last access (relatime, noatime), and what
 * the trait optional_times is about. The model goes along both ways, and where they differ the
 * later time is allowed, too. */
#ifndef CONFORM_TIMES_H
#define CONFORM_TIMES_H

#include "conform/walk.h"

/* Carries out the walker's steps, then the walk's calls one by one; advance_time really waits. */
int times_walk(struct walker *x, struct script_walk *w, struct err *err);

#endif
