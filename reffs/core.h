/* core.h -- the state behind a mounted RefFS: the model, its snapshots, who holds what.
 *
 * Requests come by inode number. They are put to the model as the calls of ops.def, relative
 * to descriptors that are opened for the purpose: what the mount answers is what the model
 * answers. One lock guards everything; a call takes about a microsecond. */
#ifndef REFFS_CORE_H
#define REFFS_CORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "op/op.h"

struct err;
struct call_recorder;

enum {
	CORE_PID = 1, /* the model's process that acts for every caller */
	CORE_TREE_FIELDS = TREE_FIELDS_DEFAULT,
};

struct core_options {
	uint64_t bytes_max; /* size of the file system */
	uint64_t inodes_max;
	uint64_t snapshots_max;
	uint64_t memory_max;  /* bytes of all trees, the present one and the kept ones */
	bool own_permissions; /* the model checks permissions, not the kernel */
};

/* A saved state, and the orphan inodes in it that the kernel held. */
struct core_snapshot {
	struct ref ref;
	struct state state;
	struct pmap orphans; /* by number */
};

struct core {
	pthread_mutex_t lock;
	struct core_options options;
	struct model model;
	struct state state;
	uint64_t next_ino;         /* never goes back: a number names one object for good */
	struct pmap lookups;       /* how often the kernel holds an inode, by number */
	struct pmap orphans;       /* objects of the tree held for the kernel, by number */
	struct pmap pool;          /* struct core_snapshot by key */
	struct call_recorder *recorder; /* hears of every call; NULL: none */
};

struct requester {
	uint32_t uid, gid;
	const uint32_t *groups; /* supplementary, where known */
	size_t group_count;
};

void core_init(struct core *c, const struct core_options *options, uint32_t uid, uint32_t gid);
void core_free(struct core *c);

/* All of the following with the lock held. */

/* Begins a request: clock, credentials. */
void core_enter(struct core *c, const struct requester *caller);
/* A descriptor on an object, for calls of this request; core_leave() closes them all. */
int core_open(struct core *c, uint64_t ino, int64_t flags);
/* Makes the call; returns 0 or an errno. */
int core_call(struct core *c, struct call *call, struct outcome *ret);
/* What there is of the object is on the disk, if there were one. */
void core_sync(struct core *c, uint64_t ino, bool data_only);
void core_leave(struct core *c);
/* EACCES where the caller may not (R_OK, W_OK, X_OK) and the model is to check, else 0. */
int core_access(struct core *c, uint64_t ino, int want);

const struct inode *core_inode(const struct core *c, uint64_t ino);
/* The kernel holds the object once more, or `times` fewer. */
void core_hold(struct core *c, uint64_t ino);
void core_forget(struct core *c, uint64_t ino, uint64_t times);
bool core_is_held(const struct core *c, uint64_t ino);
/* The FUSE generation: to the kernel, the same number with another generation is another inode. */
uint64_t core_generation(const struct core *c, uint64_t ino);
/* Keeps an object without a name for as long as the kernel holds it. */
void core_keep(struct core *c, uint64_t ino);
/* A call that may remove the entry: its object stays for those who hold it. */
int core_call_removing(struct core *c, struct call *call, uint64_t dir, const char *name,
		       struct outcome *ret);

/* Space left, in blocks of TREE_BLOCK and in inodes. Memory ends for both: what kept states hold,
 * and others share no more, is not there for new blocks. */
uint64_t core_memory_left(const struct core *c); /* bytes; can be asked without the lock */
uint64_t core_blocks_max(const struct core *c);
uint64_t core_blocks_free(const struct core *c);
uint64_t core_inodes_free(const struct core *c);
/* How many of len bytes at offset can be written before space ends. */
uint64_t core_room(const struct core *c, uint64_t ino, uint64_t offset, uint64_t len);

/* Room for so many more kept states, else -ENOSPC. */
int core_need_snapshots(const struct core *c, uint64_t more, struct err *err);
int core_save(struct core *c, uint64_t key, struct err *err);              /* -ENOSPC */
int core_drop(struct core *c, uint64_t key);                               /* -ENOENT */
const struct core_snapshot *core_find(const struct core *c, uint64_t key); /* NULL: no such key */
void core_put(struct core *c, uint64_t key, struct tree *tree); /* a loaded one, taken over */
/* Makes the kept state the present one; *ret_before is what was, for the caller to compare
 * (whose caches are stale?) and free. */
int core_restore(struct core *c, uint64_t key, bool discard, struct state *ret_before);

#endif
