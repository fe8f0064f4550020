/* holder.h -- which process holds a mount that does not come off. */
#ifndef STORAGE_HOLDER_H
#define STORAGE_HOLDER_H

#include <stdbool.h>

struct buf;

/* Adds who has something open on the file system that is mounted there, stands in it, or has it for
 * its root; false where no process is seen. We ourselves do not count. */
bool holder_find(const char *mount, struct buf *out);

#endif
