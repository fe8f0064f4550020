/* worker.h -- one process of a crew, from fork to its death, and what its crew shares with it.
 *
 * A turn carries one call or several: handing over costs far more than most calls do. */
#ifndef SANDBOX_WORKER_H
#define SANDBOX_WORKER_H

#include <sys/types.h>

#include "channel/channel.h"
#include "syscall/syscall.h"

enum {
	WORKER_GROUPS_MAX = 32,
	WORKER_TURN_DATA_MAX = 4 << 20, /* a turn whose outcomes have more data ends early */
};

enum worker_request { WORKER_CALLS, WORKER_RESET };

struct worker_call {
	struct call call;
	struct outcome outcome;
	int64_t called_ns, returned_ns;
};

struct worker_message {
	struct channel channel;
	_Atomic uint32_t done; /* calls of this turn that have outcomes */
	enum worker_request request;
	/* A race: the calls begin when this many have come to the gate, and a little later. */
	_Atomic uint32_t *gate; /* NULL: none */
	uint32_t racers, delay;
	bool groups_changed; /* take on these groups first */
	unsigned group_count;
	gid_t groups[WORKER_GROUPS_MAX];
	unsigned count;
	struct worker_call calls[SYSCALL_BATCH_MAX];
};

/* NULL with errno. The turn is the worker's, which begins. */
struct worker_message *worker_message_new(void);
void worker_message_clear(struct worker_message *m);
/* Copies a call in; false if there is no room for its text and data, or for another call. */
bool worker_message_add(struct worker_message *m, const struct call *c);

enum confinement {
	CONFINED,       /* chroot */
	CONFINED_USERS, /* chroot in its own user namespace, where it is root */
	UNCONFINED,
};

struct worker_place {
	int root_fd;
	enum confinement confinement;
	bool takes_ids; /* becomes uid and gid; else it stays who it is */
	uid_t uid;
	gid_t gid;
	bool handles; /* may open file handles (guard.h) */
};

/* Forks. The worker reports how its beginning went by the failure of the channel, then serves calls
 * until it is killed or its parent's end kills it. Returns its pid or -errno. */
pid_t worker_fork(const struct worker_place *place, struct worker_message *m);

#endif
