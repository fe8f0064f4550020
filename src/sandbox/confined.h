/* confined.h -- a compiled program runs on a file system and can change nothing else.
 *
 * It sees the machine as it is, but read-only and without devices: all mounts but the one of the
 * file system under test are so in its mount namespace. It asks for a remount by a command of the
 * shell that is its second argument; the runner does that. */
#ifndef SANDBOX_CONFINED_H
#define SANDBOX_CONFINED_H

#include <stddef.h>

#include "channel/request.h"

struct confined {
	const char *root; /* path of the directory that calls start from */
	/* Unmounts and mounts the file system: 0 or an errno. NULL: it cannot be. */
	int (*remount)(void *own);
	void *own;
	/* CLONE_NEW... besides that of mounts, and CLONE_PARENT: the caller waits for all its
	 * children meanwhile. */
	unsigned clone_flags;
};

/* Runs the program (the bytes of an executable file), killed after the given time. What goes wrong
 * before it starts is our failure. */
int confined_run(const struct confined *c, const char *program, size_t len, double seconds,
		 struct program_report *ret, struct err *err);

/* In a mount namespace of ours: from now on those that are made of it see what we mount. */
int confined_share_mounts(struct err *err);

#endif
