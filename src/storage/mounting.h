/* mounting.h -- loop devices and mounts of a private mount namespace. */
#ifndef STORAGE_MOUNTING_H
#define STORAGE_MOUNTING_H

#include <stdbool.h>

struct buf;
struct err;

/* Whether the running kernel knows the file system (loading its module if that is possible). */
bool mounting_knows(const char *fs);

/* Whether the directory is in our list of mounts. */
bool mounting_is_mounted(const char *path);
/* Adds the type of the file system that the path lies on, as mount knows it; false if it is not
 * among our mounts. */
bool mounting_type_of(const char *path, struct buf *out);

/* Whether a file system of that type is among our mounts. */
bool mounting_has(const char *fs);

/* A loop device on the file, cleared by the kernel when no process uses it any more. The descriptor
 * keeps it; its path is added to `path`. */
int loop_attach(int image_fd, struct buf *path, int *ret_loop_fd, struct err *err);
/* Visits the loop devices on files whose path has these words in it. */
void loop_each(const char *words,
	       void (*visit)(void *to, const char *name, unsigned major, unsigned minor), void *to);
/* What the device's cache holds is forgotten: the file behind it was changed. */
int loop_forget(int loop_fd, struct err *err);

/* Mounts a file system that no name of a device or a user leads out of. Source may be NULL.
 * Options are as for mount(8); those about times are known here, the rest is the file system's.
 * Returns 0 or a negative errno with what the kernel says. */
int mounting_mount(const char *fs, const char *source, const char *options, const char *at,
		   struct err *err);
/* Remounts what another process has mounted there with nodev and nosuid. */
int mounting_forbid_devices(const char *at, struct err *err);
/* Ends the connection of a FUSE mount, which stays: calls that wait for its daemon fail. */
void mounting_abort(const char *at);
/* Waits a moment for other processes that use the mount. If it stays busy: -EUSERS with the process
 * that holds it, if it can be found; else -EBUSY. */
int mounting_unmount(const char *at, struct err *err);

/* Mounts an empty file system in memory over a directory that every system has, and says where.
 * Only in a private mount namespace. */
int mounting_private_place(const char **ret_path, struct err *err);

#endif
