/* holder.h -- which process holds a mount that does not come off. */
#ifndef STORAGE_HOLDER_H
#define STORAGE_HOLDER_H

#include <stdbool.h>

struct buf;

/* Adds the processes that have an open file, their working directory or their root directory on
 * the file system mounted there; false if there is none. This process does not count. */
bool holder_find(const char *mount, struct buf *out);

#endif
