/* image.h -- a disk in memory, and copies of it that hold only what is not zero. */
#ifndef STORAGE_IMAGE_H
#define STORAGE_IMAGE_H

#include <stdint.h>

struct err;

/* By its name, and the pid behind it, a loop device shows whose it is. */
#define IMAGE_NAME "assay-image-"

/* A file without a name, mapped, so that the kernel's loop device and we see the same pages. */
struct image {
	int fd;
	uint64_t size; /* whole pages */
	char *bytes;
};

int image_make(struct image *image, uint64_t size, struct err *err);
void image_free(struct image *image); /* also of one that was never made: all zero */
/* What lies in the file, which is no larger; holes stay holes. */
int image_fill(struct image *image, int fd, struct err *err);
/* Makes it what lies in the file, which has the same size; only what differs is written. */
int image_become(struct image *image, int fd, struct err *err);
/* Writes it to a new file that has holes where it is zero. */
int image_write(const struct image *image, const char *path, struct err *err);

struct disk_copy;
struct disk_copy *disk_copy_take(const struct image *image);
/* Makes the image what it was. */
int disk_copy_put(const struct disk_copy *s, struct image *image, struct err *err);
void disk_copy_free(struct disk_copy *s);

#endif
