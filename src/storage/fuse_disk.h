/* fuse_disk.h -- an image as one file of a FUSE file system, whose server records what is written.
 *
 * The file is what is mounted: it has no directory. It is not cached, so that every request of a
 * loop device, or of a process that has it open, arrives at once and in order: a flush as fsync,
 * FUA as a write and an fsync, discards and zeroes as holes.
 *
 * The server is a process beside the one that mounts. It ends when the file is unmounted, also
 * where its owner was killed before: what is mounted on top can still be unmounted in order. It
 * sees no mount that depends on it. */
#ifndef STORAGE_FUSE_DISK_H
#define STORAGE_FUSE_DISK_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct image;
struct recording;

struct fuse_disk {
	int connection_fd; /* for the process that mounts; -1: it was handed over */
	pid_t server;
};

/* Whether this machine has FUSE. */
bool fuse_disk_possible(void);
/* Starts the server. Who mounts is to be forked afterwards, and is to keep connection_fd. */
int fuse_disk_start(struct fuse_disk *disk, const struct image *image, struct recording *recording,
		    struct err *err);
/* The same with a connection, /dev/fuse, that was opened in the user namespace of who mounts. */
int fuse_disk_start_on(struct fuse_disk *disk, int connection_fd, const struct image *image,
		       struct recording *recording, struct err *err);
/* Opens a connection; -1 and errno. */
int fuse_disk_connect(void);
/* Once that process has mounted it: the server is the only one who holds the connection. */
void fuse_disk_handed_over(struct fuse_disk *disk);
/* After that process has ended. */
void fuse_disk_stop(struct fuse_disk *disk);

/* In the process that mounts, in its own mount namespace: mounts it below the directory, under a
 * name with the number of the owner's process in it, as images have, and opens it. */
int fuse_disk_mount(const struct fuse_disk *disk, const char *place, pid_t owner, int *ret_fd,
		    struct err *err);

#endif
