/* caches.h -- making the kernel forget what it holds of a file system in memory. */
#ifndef STORAGE_CACHES_H
#define STORAGE_CACHES_H

#include <stdbool.h>

/* Whether this process may drop caches at all. */
bool caches_can_drop(void);

struct caches;
/* Before the root directory changes. Never NULL: without privilege, dropping does nothing but
 * writing back. */
struct caches *caches_open(void);
/* Writes everything back, then drops the pages of files below the root and all unused names and
 * inodes (of the whole machine, which is harmless). Returns 0 or a negative errno. */
int caches_drop(struct caches *c, int root_fd);

#endif
