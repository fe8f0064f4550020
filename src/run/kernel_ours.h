/* kernel_ours.h -- what the kernel may name of ours in its log: processes, disks, file system. */
#ifndef RUN_KERNEL_OURS_H
#define RUN_KERNEL_OURS_H

#include "run/attribution.h"

struct target;

/* Looks at what there is now. Processes of earlier looks stay ours: one that a complaint is about
 * may be gone when it is read. *ours is zeroed before the first look. */
void kernel_ours_look(struct kernel_ours *ours, const struct target *t);
void kernel_ours_free(struct kernel_ours *ours);

#endif
