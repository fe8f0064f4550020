/* exec.h -- calls made for real: one function per operation, raw system calls.
 *
 * Two ways. In-process (`exec_self`): the calling process makes the call itself; the fastest,
 * for a worker that is already where it should be. Crew (`exec_crew`): one worker process per
 * process of the script, each with its own credentials, working directory, umask and
 * descriptors, confined to a root directory, with a deadline on every call: a hung file
 * system is reported, never waited for.
 *
 * Descriptors in calls are the script's own numbers (smallest free from 3 on, as the model
 * counts them); a table maps them to real ones. Paths that begin with '/' start at the root. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "op/op.h"

struct err;
struct exec_limits;

enum {
	EXEC_FDS_MAX = 256,
	EXEC_PIDS_MAX = 64,
	EXEC_BATCH_MAX = 128,
	EXEC_DATA_MAX = 64 << 20,
};

/* One process's view: descriptor table and buffers. In-process use. */
struct exec_self;
/* Root_fd is borrowed; chroot is the caller's. Without one, absolute paths start at root_fd
 * (exact but for absolute symbolic links and ".." above the root). The working directory and
 * umask of the calling process become the script's. NULL with errno: no memory. */
struct exec_self *exec_self_new(int root_fd);
void exec_self_free(struct exec_self *self);
/* Closes every descriptor and stream of the script and goes back to the root. */
void exec_self_reset(struct exec_self *self);
/* Makes the call. Bytes of the outcome are valid until the next call; there are at most
 * EXEC_DATA_MAX, and where bytes are the result num is the number that the system call gave
 * (an xattr's size, say, where only that was asked for). ENV and PROC operations are not system
 * calls of ours: ENOSYS; targets and crews serve them. */
void exec_self_call(struct exec_self *self, const struct call *c, struct outcome *ret);

struct exec_options {
	double deadline_seconds; /* per call; 0: 10 seconds */
	bool no_chroot;          /* stay unconfined (no privilege): absolute paths are re-rooted */
	/* No device of the machine can be opened there, whatever nodes there are (guard.h). Where
	 * that cannot be had nodes are not made; limits is needed for that. */
	bool no_devices;
	struct exec_limits *limits; /* on what calls may take (limits.h); NULL: none */
	uint32_t uid, gid;       /* of process 1; 0: root, or the caller where privilege lacks */
};

struct exec_crew;
/* Workers on the directory open at root_fd. Confinement needs CAP_SYS_CHROOT, or else a user
 * namespace of its own; what is missing is said in err with what would help. */
int exec_crew_open(struct exec_crew **ret, int root_fd, const struct exec_options *options,
		   struct err *err);
/* Makes the call in its process (process 1 exists from the start, root or the caller;
 * create_process makes others, as any user only with CAP_SETUID and CAP_SETGID: -EPERM). An
 * existing process cannot be created (EEXIST) nor a missing one destroyed (ESRCH): outcomes;
 * any other call of a missing process is our failure, -ESRCH. Returns 0 and the outcome
 * (whatever it is); -ETIME if the call hung: that worker is given up (its task may stay behind
 * in the kernel) and counted; -LIMITS_NOT_MADE where the limits kept it from being made; other
 * negative values are our failures. Outcome bytes are valid
 * until the next call. */
int exec_crew_call(struct exec_crew *crew, const struct call *c, struct outcome *ret,
		   struct err *err);
/* Several calls of one process (no PROC operations among them), one after another and with one
 * handover, which is most of what a fast call costs. Makes as many as there is room for, at
 * least one; *ret_done says how many have outcomes, also on failure: then the next one is the
 * call that failed. The deadline is each call's, watched every 50 milliseconds. */
int exec_crew_batch(struct exec_crew *crew, const struct call *calls, size_t count,
		    struct outcome *ret, size_t *ret_done, struct err *err);
/* Overlapping calls: start without waiting, then wait. Times are CLOCK_MONOTONIC nanoseconds. */
int exec_crew_start(struct exec_crew *crew, const struct call *c, struct err *err);
int exec_crew_wait(struct exec_crew *crew, unsigned pid, struct outcome *ret,
		   int64_t *ret_called_ns, int64_t *ret_returned_ns, struct err *err);
/* Calls of several processes that really overlap: each process makes its own in their order, and
 * all begin together, but for a few microseconds that the seed chooses for each. Where one call
 * returned before another began, the times say so. */
struct exec_raced {
	struct outcome outcome;
	int64_t called_ns, returned_ns;
};
int exec_crew_race(struct exec_crew *crew, const struct call *calls, size_t count, uint64_t seed,
		   struct exec_raced *ret, struct err *err);
/* Ends all processes but 1 and resets that one: as after exec_crew_open. */
int exec_crew_reset(struct exec_crew *crew, struct err *err);
unsigned exec_crew_abandoned(const struct exec_crew *crew);
void exec_crew_close(struct exec_crew *crew);

#endif
