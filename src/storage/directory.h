/* directory.h -- the root directory of a test as it is at the beginning. */
#ifndef STORAGE_DIRECTORY_H
#define STORAGE_DIRECTORY_H

struct err;

/* Makes it a directory of the caller's with this mode, without flags and extended attributes. */
int directory_reset(int dir_fd, unsigned mode, struct err *err);

#endif
