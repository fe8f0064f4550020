/* recorded_image.h -- an image as a file that a program is given, and a log of what it writes
 * there.
 *
 * The file is that of a FUSE server (storage/fuse_disk.h). A process in its own namespaces mounts
 * it and ends; the descriptor keeps the mount, which no name leads to. So it needs no root where
 * there are user namespaces. */
#ifndef SANDBOX_RECORDED_IMAGE_H
#define SANDBOX_RECORDED_IMAGE_H

#include "storage/fuse_disk.h"

struct buf;
struct err;
struct image;
struct recording;

struct recorded_image {
	int fd; /* of the file, for a program; -1: not open */
	struct fuse_disk disk;
	struct recording *recording;
};

/* Whether this machine can, as far as that is known without trying. */
bool recorded_image_possible(void);
/* The image must outlive it; what is written to the image otherwise is there as well. */
int recorded_image_open(struct recorded_image *r, const struct image *image, struct err *err);
void recorded_image_close(struct recorded_image *r);
/* The log is empty now. */
void recorded_image_begin(struct recorded_image *r);
/* Adds the log (write_log.h): writes, and a flush for each fsync. */
int recorded_image_copy(const struct recorded_image *r, struct buf *out, struct err *err);

#endif
