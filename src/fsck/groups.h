/* groups.h -- fields of different objects are damaged at a time, so that one run tests them all. */
#ifndef FSCK_GROUPS_H
#define FSCK_GROUPS_H

#include "fsck/campaign.h"

/* Of a campaign that has a probe: the first values of all lanes, in a share of the time. 1: go on,
 * 0: it is over, or -errno. */
int groups_run(struct campaign *c, struct err *err);

#endif
