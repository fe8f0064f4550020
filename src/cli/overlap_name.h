/* overlap_name.h -- the name of a target whose kernel takes schedules. */
#ifndef CLI_OVERLAP_NAME_H
#define CLI_OVERLAP_NAME_H

struct buf;

/* Of kernel:ext4 that is kernel:ext4@overlap. Other targets, and kernels that are named, stay. */
void overlap_name(const char *target, struct buf *out);

#endif
