/* kernel_checker.h -- the kernel as a checker: it is given damaged disks, in a process.
 *
 * Whatever is on a disk, mounting it, reading it, using it and unmounting it must not crash the
 * kernel, make it hang or have it report an internal error; that it refuses the disk, or says
 * that it is damaged, is right. The kernel of this machine is never given one. */
#ifndef FSCK_KERNEL_CHECKER_H
#define FSCK_KERNEL_CHECKER_H

#include "base/map.h"
#include "damage/damage.h"
#include "fsck/test_disk.h"
#include "judge/kernel_log.h"
#include "trace/script.h"

struct kernel_figures {
	uint64_t images, refused, mounted, crashed, hung, alarms;
	uint64_t behaviours; /* different answers and messages */
};

struct kernel_checker {
	struct test_disk *disk;
	struct damaged_disk damaged;
	struct kernel_figures figures;
	struct hash_map seen;
	struct hash_map behaved;
	struct script use; /* calls on a disk that is mounted */
	struct buf read;   /* a bit for each sector that mounting and reading the disk reads */
};

enum kernel_fault { KERNEL_FINE, KERNEL_CRASHED, KERNEL_HUNG, KERNEL_COMPLAINS };

struct kernel_test {
	struct corruption corruption;
	enum kernel_fault fault;
	uint64_t calls;               /* what they returned, as a number */
	const char *during;           /* "mounting", "reading", "using", "unmounting" */
	char place[KERNEL_PLACE_MAX]; /* that the kernel's log names */
	struct buf log;
};

/* The disk and the map of its fields, which may be NULL, are the caller's. */
int kernel_checker_open(struct kernel_checker *k, struct test_disk *disk,
			const struct ondisk_map *map, struct err *err);
void kernel_checker_close(struct kernel_checker *k);
bool kernel_checker_is_new(struct kernel_checker *k, const struct corruption *c);
int kernel_checker_try(struct kernel_checker *k, const struct corruption *c,
		       struct kernel_test *ret, struct err *err);
/* The same with another damaged disk. */
int kernel_checker_try_disk(struct kernel_checker *k, const uint8_t *disk, struct kernel_test *ret,
			    struct err *err);
void kernel_test_free(struct kernel_test *t);

#endif
