/* archive.h -- an archive that Linux unpacks as its first file system (cpio, format newc). */
#ifndef CONFIRM_ARCHIVE_H
#define CONFIRM_ARCHIVE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

struct archive {
	struct buf bytes;
	unsigned entries;
};

/* Names have no slash in front; a directory comes before what lies in it. */
void archive_add_directory(struct archive *a, const char *name);
void archive_add_file(struct archive *a, const char *name, mode_t permissions, const void *data,
		      size_t len);
void archive_add_link(struct archive *a, const char *name, const char *target);
void archive_add_device(struct archive *a, const char *name, unsigned major, unsigned minor);
/* Nothing is added behind it. */
void archive_end(struct archive *a);
void archive_free(struct archive *a);

#endif
