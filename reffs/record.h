/* record.h -- the calls that a mounted RefFS is asked for, as a script (trace/script.h).
 *
 * Only calls that change or sync something and succeed are written, in their order, each with its
 * outcome when it is made. The script can be repeated by process 1 as root: objects are named by
 * paths and by descriptors of the script's own, whatever the program had. Times and inode flags are
 * left out; owners are those that chown sets. A write that the kernel sends in several requests is
 * several calls; a store to a mapping is a call when the kernel writes the page back. */
#ifndef REFFS_RECORD_H
#define REFFS_RECORD_H

#include "model/model.h"

struct call_recorder;

/* A file of this name in the root directory is not part of the script: what is written to it is
 * recorded as written to descriptor 1. */
#define RECORD_PRINTED ".assay-printed"

/* Writes to the descriptor, which stays the caller's. */
struct call_recorder *recorder_new(int fd);
void recorder_free(struct call_recorder *r); /* NULL is none */
/* A call that succeeded, and the state after it. */
void recorder_add(struct call_recorder *r, const struct state *s, const struct call *c,
		  const struct outcome *o);
/* The object was synced. */
void recorder_add_sync(struct call_recorder *r, const struct state *s, uint64_t ino,
		       bool data_only);

#endif
