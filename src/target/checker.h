/* checker.h -- the program that checks a file system (e2fsck and the like), on a copy of its disk.
 *
 * It runs beside us: started, and asked for its verdict later. */
#ifndef TARGET_CHECKER_H
#define TARGET_CHECKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "model/model.h"
#include "storage/image.h"

struct buf;
struct err;
struct target_description;

struct checker {
	const struct target_description *d;
	struct image image; /* private: some checkers write to it */
	pid_t pid;          /* 0: none runs */
	int output_fd;
};

/* Of this description, which has one (fsck); the image belongs to the checker from then on. */
int checker_start(struct checker *c, const struct target_description *d, struct image *image,
		  struct err *err);
bool checker_has_ended(const struct checker *c);
/* Waits for it. VERDICT_UNKNOWN: its exit status says neither. What it wrote is added to the
 * report. The checker is free again, also after a failure. ret_cpu_seconds may be NULL. */
int checker_finish(struct checker *c, enum verdict *ret, struct buf *report,
		   double *ret_cpu_seconds, struct err *err);

/* The first complaint in a report, in words without names and numbers: "inode N, i_blocks is N".
 * What a checker says of a file system that mkfs has just made (`fresh`) is none. */
void checker_complaint(const char *report, const char *fresh, struct buf *out);

#endif
