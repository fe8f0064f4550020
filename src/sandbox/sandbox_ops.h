/* sandbox_ops.h -- how a sandbox reaches its file system, and for whom it makes calls. */
#ifndef SANDBOX_SANDBOX_OPS_H
#define SANDBOX_SANDBOX_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct limits;

enum {
	SANDBOX_FDS_MAX = 5,
	SANDBOX_ROOT_MODE = 0755,
	/* Mounting may take this long, whatever the deadline of calls: some daemons derive a key
	 * first, and machines are busy. */
	SANDBOX_MOUNT_S = 120,
};

/* How to reach the file system. All functions run inside the sandbox, which is a copy of the
 * process that started it; what they change in `own` is not seen outside. */
struct sandbox_ops {
	void *own;
	unsigned namespaces;      /* CLONE_NEW... */
	int fds[SANDBOX_FDS_MAX]; /* descriptors that stay open in the sandbox */
	size_t fd_count;
	/* Once, before anything else; may be NULL. */
	int (*begin)(void *own, struct err *err);
	/* Makes the file system reachable; a descriptor of the directory that calls start from. */
	int (*attach)(void *own, int *ret_root_fd, struct err *err);
	/* The opposite; NULL: cannot. After a failure the file system may still be attached.
	 * -EUSERS: a process that is not ours holds it. */
	int (*detach)(void *own, struct err *err);
	/* After each call has returned, or all of a race have; NULL: nothing. */
	void (*called)(void *own);
	/* On what calls may take of a disk that is the user's; NULL: the disk is ours. */
	struct limits *limits;
	/* Ends what serves the file system as a crash would, while files are open; NULL: cannot. */
	int (*kill)(void *own, struct err *err);
	/* Where kill: ends calls that wait for what was killed. */
	void (*abort)(void *own);
	bool keeps; /* what is there survives detaching: it can be remounted */
	/* Whether the file system is gone (a daemon died); NULL: never. */
	bool (*gone)(void *own);
	/* Of one that is gone: -ECHILD and why, where that was not its doing. NULL: it
	 * always was. */
	int (*gone_by_others)(void *own, struct err *err);
	/* The last thing, even where the owner is gone: removes what would outlive the sandbox.
	 * NULL: nothing would. */
	void (*end)(void *own);
};

struct sandbox_options {
	unsigned fields;
	double deadline_seconds;
	uint32_t uid, gid; /* of process 1; in a user namespace without capabilities unless 0 */
	uint32_t outside_uid, outside_gid; /* of the caller; filled in by sandbox_start */
};

#endif
