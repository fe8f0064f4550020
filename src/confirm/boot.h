/* boot.h -- a kernel started in QEMU, and what it writes to its serial line. */
#ifndef CONFIRM_BOOT_H
#define CONFIRM_BOOT_H

#include <stdbool.h>

#include "base/buf.h"

struct err;

struct boot_report {
	struct buf console; /* lines end in '\n' only */
	bool timed_out;     /* it was ended by us, at the deadline or because it wrote too much */
	double seconds;
};

/* What is missing here to boot a kernel, as a sentence; nothing if nothing is. */
void boot_lacking(struct buf *out);
/* Boots the image with the files of the directory (guest.h), and waits until it ends. It ends with
 * us. Interrupted by a signal (stop.h): -EINTR. */
int boot_guest(const char *image, const char *dir, bool has_disk, double seconds,
	       struct boot_report *ret, struct err *err);
void boot_report_free(struct boot_report *r);

#endif
