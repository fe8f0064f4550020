/* logged_disk.h -- a log of dm-log-writes and the image that it was begun on, instead of calls.
 *
 * What the calls were is not known, so a recovered tree is not judged: every crash disk has to be
 * one that is mounted, read and used, and that its checker finds clean. */
#ifndef CRASH_LOGGED_DISK_H
#define CRASH_LOGGED_DISK_H

#include "base/buf.h"
#include "storage/image.h"

struct crash_case;
struct crash_session;
struct err;

struct logged_disk {
	struct image image;
	struct buf path; /* of the image */
	struct buf log;  /* as records (storage/write_log.h), from `from` on */
	char **marks;    /* the names of its marks */
	size_t mark_count;
};

/* What precedes the mark `from` is written to the image; NULL: nothing is. Free it in any case. */
int logged_disk_read(struct logged_disk *in, const char *log, const char *image, const char *from,
		     struct err *err);
void logged_disk_free(struct logged_disk *in);
/* For crash_each(), of a session whose target was given the image; to be freed. The input must
 * outlive it. */
int logged_disk_case(const struct logged_disk *in, const struct crash_session *s,
		     struct crash_case *ret, struct err *err);

#endif
