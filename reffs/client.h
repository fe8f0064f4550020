/* client.h -- a mounted RefFS from outside: pickles to and from files.
 *
 * The file is the caller's business, not the daemon's: it may lie on the mount itself. */
#ifndef REFFS_CLIENT_H
#define REFFS_CLIENT_H

#include <stdint.h>

struct err;

/* mount_fd: anything open on the mount. key NULL: all keys. Writing is atomic: a temporary file
 * beside the path, fsync, rename. */
int client_pickle(int mount_fd, const uint64_t *key, const char *path, struct err *err);
int client_load(int mount_fd, const uint64_t *key, const char *path, struct err *err);

#endif
