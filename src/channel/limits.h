/* limits.h -- what the calls of a script may take of a disk that is not ours alone.
 *
 * A call that would take more is not made, and that is reported as such: it is no answer of the
 * file system. What calls ask for is added up; where that comes to the bound, what really lies
 * there is measured, which costs a walk, and counts instead. */
#ifndef CHANNEL_LIMITS_H
#define CHANNEL_LIMITS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

struct err;

struct limits {
	int root_fd;            /* of what is measured; borrowed */
	uint64_t space_bytes;   /* that all of it together may take; 0: no bound */
	uint64_t file_size_max; /* beyond, the kernel refuses a file before it takes anything */
	bool no_devices;        /* device nodes that are not harmless are not made */
	bool dense;             /* a file takes the space of its holes, too */
	uint64_t asked;         /* since it was measured */
};

/* With this bound on space; 0: the usual one, a tenth of what is free there and at most a
 * gigabyte. */
void limits_init(struct limits *l, int root_fd, uint64_t space_bytes);
/* Both give 0, or -LIMITS_NOT_MADE and why the call is not to be made: by itself, wherever it is
 * made; and on top of what is there, which is to be asked directly before it is made. */
enum { LIMITS_NOT_MADE = EDQUOT };
int limits_admit(const struct limits *l, const struct call *c, struct err *err);
int limits_check(struct limits *l, const struct call *c, struct err *err);

#endif
