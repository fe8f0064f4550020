/* ramdisk.h -- a disk in memory that is copied by reference and records what it is asked for.
 *
 * An image, which never changes, and the blocks written since. Reading gives what was written last:
 * what a crash loses of it is up to who reads the record. */
#ifndef JOURNALFS_RAMDISK_H
#define JOURNALFS_RAMDISK_H

#include "storage/write_log.h"
#include "tree/tree.h"

struct buf;
struct err;
struct ramdisk_base;
struct ramdisk_request;

/* All zero is a disk of old bytes that records nothing. */
struct ramdisk {
	struct ramdisk_base *base;    /* NULL: old bytes */
	struct pmap changed;          /* struct blob by block */
	struct ramdisk_request *last; /* of the record */
	bool records;
	uint16_t failing[2]; /* which of the next writes are to fail: 1 is the next one; 0: none */
	bool failed;         /* one did */
};

struct ramdisk ramdisk_copy(const struct ramdisk *d);
void ramdisk_free(struct ramdisk *d);

/* LAYOUT_BLOCK bytes, valid until the block is written. */
const char *ramdisk_read(const struct ramdisk *d, uint32_t block);
/* The whole disk, LAYOUT_SIZE bytes. */
void ramdisk_read_all(const struct ramdisk *d, char *to);
/* what: RECORD_FLUSH and RECORD_FUA, or 0. The blob, of LAYOUT_BLOCK bytes, is shared. */
void ramdisk_write(struct ramdisk *d, uint32_t block, struct blob *bytes, unsigned what);
void ramdisk_flush(struct ramdisk *d);
/* Writes from now on fail by number, counted from 1; 0: none does. One that fails changes nothing.
 */
void ramdisk_fail(struct ramdisk *d, const uint16_t numbers[2]);
void ramdisk_mark(struct ramdisk *d); /* a call has returned */

/* What is there now is the image from now on, and the record is empty. */
int ramdisk_settle(struct ramdisk *d, struct err *err);
/* A disk with a copy of this image, whose size is LAYOUT_SIZE; its record is empty. */
int ramdisk_load(struct ramdisk *d, int image_fd, struct err *err);
/* The image, as a file, and the requests since (struct disk_record). The descriptor is the disk's;
 * after ramdisk_load() it is that of the file given. */
int ramdisk_image_fd(const struct ramdisk *d);
void ramdisk_recorded(const struct ramdisk *d, struct buf *out);

#endif
