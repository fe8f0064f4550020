/* crew.h -- one worker process for each process of a script.
 *
 * Each worker has its own credentials, working directory, umask and descriptors, is confined to a
 * root directory, and every call has a deadline: a hung file system is reported, never waited
 * for. */
#ifndef SANDBOX_CREW_H
#define SANDBOX_CREW_H

#include "channel/request.h"
#include "syscall/syscall.h"

struct err;
struct limits;

struct crew_options {
	double deadline_seconds; /* per call; 0: 10 seconds */
	bool no_chroot;          /* stay unconfined (no privilege): absolute paths are re-rooted */
	/* No device of the machine can be opened there, whatever nodes there are (guard.h). Where
	 * that cannot be had nodes are not made; limits is needed for that. */
	bool no_devices;
	/* File handles may be opened: the file system has nothing but what is under test (guard.h).
	 * They are kept when a crew is closed, where another one is to have them. */
	bool handles, keeps_handles;
	struct limits *limits; /* on what calls may take (limits.h); NULL: none */
	bool is_late;          /* a process is made with its first call, if any is made in it */
	uint32_t uid, gid;     /* of process 1; 0: root, or the caller where privilege lacks */
};

struct crew;
/* Workers on the directory open at root_fd. Confinement needs CAP_SYS_CHROOT, or else its own
 * user namespace; err says what is missing and what would help. */
int crew_open(struct crew **ret, int root_fd, const struct crew_options *options, struct err *err);
/* Makes the call in its process (process 1 exists from the start, root or the caller;
 * create_process makes others, as any user only with CAP_SETUID and CAP_SETGID: -EPERM). An
 * existing process cannot be created (EEXIST) nor a missing one destroyed (ESRCH): outcomes;
 * any other call of a missing process is our failure, -ESRCH. Returns 0 and the outcome
 * (whatever it is); -ETIME if the call hung: that worker is given up (its task may stay behind
 * in the kernel); -LIMITS_NOT_MADE where the limits kept it from being made; other
 * negative values are our failures. Outcome bytes are valid
 * until the next call. */
int crew_call(struct crew *crew, const struct call *c, struct outcome *ret, struct err *err);
/* Several calls of one process (no PROC operations among them), one after another and with one
 * handover, which is most of what a fast call costs. Makes as many as there is room for, at
 * least one; *ret_done says how many have outcomes, also on failure: then the next one is the
 * call that failed. The deadline is each call's, watched every 50 milliseconds. */
int crew_batch(struct crew *crew, const struct call *calls, size_t count, struct outcome *ret,
	       size_t *ret_done, struct err *err);
/* Calls of several processes that really overlap: each process makes its own in their order, and
 * all begin together, but for a few microseconds that the seed chooses for each. Where one call
 * returned before another began, the times say so. */
int crew_race(struct crew *crew, const struct call *calls, size_t count, uint64_t seed,
	      struct race_outcome *ret, struct err *err);
/* Ends all processes but 1 and resets that one: as after crew_open. */
int crew_reset(struct crew *crew, struct err *err);
void crew_close(struct crew *crew);

#endif
