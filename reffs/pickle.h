/* pickle.h -- states of RefFS in a file.
 *
 * The file: "REFFSPK1", number of states (8 bytes, little endian), then per state its key (8
 * bytes), the length of its tree (8 bytes) and the tree as tree/pack.h writes it; at the end the
 * XXH3 hash (16 bytes) of all that. A file that does not match its hash, or whose trees are not
 * trees, is refused whole. Objects without a name are not kept. */
#ifndef REFFS_PICKLE_H
#define REFFS_PICKLE_H

#include "reffs/core.h"

struct err;

/* With the core's lock held. key NULL: all keys of the pool. */
int pickle_write(const struct core *c, const uint64_t *key, const char *path, struct err *err);
/* Puts the file's only state under *key, or, where key is NULL, each under its own. */
int pickle_read(struct core *c, const uint64_t *key, const char *path, struct err *err);

#endif
