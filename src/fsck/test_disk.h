/* test_disk.h -- the disk that is damaged again and again: made by mkfs, filled by a kernel in a
 * process, and unmounted or crashed. */
#ifndef FSCK_TEST_DISK_H
#define FSCK_TEST_DISK_H

#include "storage/image.h"
#include "target/target.h"

struct checker_program;

struct test_disk {
	struct target *target; /* that mounts it; NULL: no kernel does */
	struct image image;
	struct image fresh; /* as mkfs left it, which the target knows */
	struct tree tree;   /* of the file system on it; only where there is a target */
	uint64_t objects;   /* in that */
	/* Of a disk that was crashed: what was there before the calls that a crash may undo. */
	struct tree settled;
	bool is_crashed;
	uint64_t left_out; /* calls of the content that this file system refuses */
};

struct test_disk_options {
	const char *target; /* that can be crashed (TARGET_RECORD) */
	const char *mkfs;   /* instead of the target's own; NULL: that */
	uint64_t size;      /* likewise; 0 */
	const char *config;
	/* Names of checkers/NAME.trace, or NULL. content: calls besides the usual ones. crash:
	 * calls after another mount; the disk is as a crash leaves it when they have returned. */
	const char *content, *crash;
	double call_seconds; /* after which a call, or mounting, hangs; 0: as is usual */
};
int test_disk_make(struct test_disk *ret, const struct test_disk_options *o, struct err *err);
/* Of a format that no kernel mounts: as mkfs leaves it. */
int test_disk_make_alone(struct test_disk *ret, const char *mkfs, uint64_t size, struct err *err);
void test_disk_free(struct test_disk *d);
/* Another disk of its size instead, and what is on it. */
int test_disk_become(struct test_disk *d, const struct buf *disk, struct err *err);

/* A disk as a file, which may be compressed (gzip), up to whole pages. */
int disk_file_read(struct buf *ret, const char *path, struct err *err);

/* Mounts a disk that differs from the test disk in some pages (or that is another one of its size).
 * *ret_error: what mounting answers, 0 if it is there. */
int test_disk_mount(struct test_disk *d, const uint8_t *disk, int *ret_error,
		    enum target_fate *ret_fate, struct err *err);

#endif
