/* worker.h -- inside exec: one process of a crew, from fork to its death. */
#ifndef SANDBOX_WORKER_H
#define SANDBOX_WORKER_H

#include <sys/types.h>

#include "sandbox/worker_channel.h"

enum confinement {
	CONFINED,       /* chroot */
	CONFINED_USERS, /* chroot in a user namespace of its own, where it is root */
	UNCONFINED,
};

struct worker_place {
	int root_fd;
	enum confinement confinement;
	bool takes_ids; /* becomes uid and gid; else it stays who it is */
	uid_t uid;
	gid_t gid;
};

/* Forks. The worker says on the wire how its beginning went, then serves calls until it is
 * killed or its parent's end kills it. Returns its pid or -errno. */
pid_t worker_fork(const struct worker_place *place, struct wire *wire);

#endif
