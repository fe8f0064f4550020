/* tar.h -- the files of a tar archive in memory. */
#ifndef SUITE_TAR_H
#define SUITE_TAR_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* An archive that POSIX or GNU tar wrote; older ones have no mark. */
bool tar_is_archive(const struct buf *archive);
/* Visits every ordinary file, in the order of the archive. The name is valid until the visit ends,
 * the contents are the archive's. What is behind damage is not visited. */
void tar_each(const struct buf *archive,
	      void (*visit)(void *to, const char *name, const char *text, size_t len), void *to);

#endif
