/* aftermath.h -- what overlapping calls leave behind: in memory, on the disk, after a remount.
 *
 * The tree may be as an order of the calls explains it, and still a counter may be wrong, a
 * reference be left, or the disk be inconsistent. So the checker of the file system looks at the
 * disk; the file system is unmounted, mounted again and compared; and everything is removed, after
 * which as much has to be free as when the calls came one behind the other. */
#ifndef CONFORM_AFTERMATH_H
#define CONFORM_AFTERMATH_H

#include <stdbool.h>

#include "judge/discrepancy.h"

struct err;
struct state;
struct walker;

enum aftermath_look { AFTERMATH_FSCK, AFTERMATH_SPACE, AFTERMATH_REMOUNT, AFTERMATH_LOOKS };

struct aftermath {
	/* What calls that do not overlap show as well; it says nothing about races. */
	bool means_nothing[AFTERMATH_LOOKS];
	bool serial;                 /* such calls are looked at: what is wrong is learned */
	bool space_known;            /* from such calls, */
	int64_t free_blocks, inodes; /* that are free when all is removed */
};

/* Looks at the present state of the target, of which the model says `s`. The target is in another
 * state afterwards. *ret_bad: found describes what is wrong. */
int aftermath_examine(struct aftermath *a, struct walker *x, const struct state *s,
		      struct discrepancy *found, bool *ret_bad, struct err *err);

#endif
