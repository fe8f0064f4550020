/* guest.h -- the files that a guest starts with: its first file system, and its disk.
 *
 * The file system under test is made here, by the command of its description, and lies on the
 * guest's only disk; flash memory is simulated in the guest. */
#ifndef CONFIRM_GUEST_H
#define CONFIRM_GUEST_H

#include <stdbool.h>

#include "base/buf.h"
#include "target/disk.h"

struct err;
struct stock_kernel;
struct target_description;

#define GUEST_ARCHIVE "initramfs"
#define GUEST_DISK "disk"

/* A disk after a crash, whose recovery is tested. */
struct guest_crash {
	const char *image; /* a file */
	const char
		*recovered; /* what is wrong then (guest/compare.c); NULL: it cannot be mounted */
	bool repairs;       /* its checker repairs it before, here */
};

/* What all guests of a finding have, whatever their kernel. */
struct guest {
	const struct target_description *d;
	struct buf init, repro; /* programs */
	struct disk disk;       /* as mkfs made it, or as a crash left it */
	bool has_disk;
	const struct guest_crash *crash; /* NULL: none */
};

/* Compiles both programs and makes the disk. -ENOTSUP where the description is of
 * no file system that a kernel mounts. */
int guest_make(struct guest *g, const struct target_description *d, const char *source,
	       struct err *err);
/* The same for a crash, which must outlive it; a program of ours takes the place of the reproducer.
 */
int guest_make_crashed(struct guest *g, const struct target_description *d,
		       const struct guest_crash *crash, struct err *err);
void guest_free(struct guest *g);
/* Writes the first file system for this kernel. */
int guest_write_archive(const struct guest *g, const struct stock_kernel *kernel, const char *dir,
			struct err *err);
/* Writes the disk, where it has one: the last guest has changed it. */
int guest_write_disk(const struct guest *g, const char *dir, struct err *err);

#endif
