/* pickle.h -- states of RefFS as bytes.
 *
 * The bytes: "REFFSPK1", number of states (8 bytes, little endian), then per state its key (8
 * bytes), the length of its tree (8 bytes) and the tree as tree/pack.h writes it; at the end the
 * XXH3 hash (16 bytes) of all that. What does not match its hash, or holds a tree that is no file
 * system (tree/check.h), is refused whole. Objects without a name are not kept.
 *
 * The core's lock is taken for as long as it takes to share or to put a state, and not while
 * bytes are made or read: other requests are served meanwhile. */
#ifndef REFFS_PICKLE_H
#define REFFS_PICKLE_H

#include "base/buf.h"
#include "reffs/core.h"

struct err;

/* Appends the state of that key, or, where key is NULL, those of all keys. */
int pickle_pack(struct core *c, const uint64_t *key, struct buf *out, struct err *err);
/* Puts the only state in the bytes under *key, or, where key is NULL, each under its own. */
int pickle_unpack(struct core *c, const uint64_t *key, const struct buf *bytes, struct err *err);

#endif
