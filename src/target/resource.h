/* resource.h -- what a target uses of the user: a directory, a device, an image.
 *
 * Two daemons on one image destroy it, so whatever a target names is used by one at a time, on the
 * whole machine; an image is not used at all, but a copy of it. */
#ifndef TARGET_RESOURCE_H
#define TARGET_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct err;

/* Locks it: -EBUSY, after some seconds, if another process has it. The descriptor, and
 * copies of it that other processes have, hold it; nothing is written anywhere. */
int resource_lock(const char *path, int *ret_fd, struct err *err);

enum resource_kind {
	RESOURCE_PLACE, /* a directory or a block device */
	RESOURCE_IMAGE, /* a file that is no text and no program */
};

/* Visits what the words of a command name, but for its program, and the parts of options and lists:
 * "-o a=x,b=y", "x:y".
 * Words that only the shell understands are left to it: resource_check() refuses those that may
 * name something. What `visit` adds to `replaced` replaces the word. */
struct resource_visitor {
	int (*visit)(void *to, enum resource_kind kind, const char *path, struct buf *replaced,
		     struct err *err);
	void *to;
};
int resource_each(const char *command, const struct resource_visitor *visitor, struct buf *out,
		  struct err *err);

/* -EINVAL if only the shell can expand a word of the command ($HOME, ~, *.img), or if a text for
 * another shell, or for this one, names a place or an image: sh -c 'bindfs back $0'. */
int resource_check(const char *command, struct err *err);

/* Whether a command names a directory or a device. */
bool resource_is_named(const char *command);

#endif
