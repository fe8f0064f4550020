/* mount.h -- RefFS as a mounted file system. */
#ifndef REFFS_MOUNT_H
#define REFFS_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

struct mount_options {
	uint64_t size, inodes; /* limits: bytes and objects */
	uint64_t snapshots;    /* states that can be kept */
	uint64_t memory;       /* bytes of all states together */
	bool allow_other;      /* other users may use it */
	bool own_permissions;  /* the model checks permissions instead of the kernel */
	int record_fd;         /* calls are recorded there (record.h); 0: they are not */
	const char *image;     /* loaded at the start if it exists, written at the end; or NULL */
};

/* Whether something can be mounted there: a directory that is no mount point yet. */
int mountpoint_check(const char *path, struct err *err);
/* Mounts and serves until unmounted, SIGTERM, SIGINT or SIGHUP. ready_fd, unless -1, is written one
 * byte and closed when the mount is ready. */
int reffs_serve(const char *mountpoint, const struct mount_options *options, int ready_fd,
		struct err *err);

#endif
