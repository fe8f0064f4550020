/* sandbox_server.h -- the sandbox's side: what it does between fork and death. */
#ifndef SANDBOX_SANDBOX_SERVER_H
#define SANDBOX_SANDBOX_SERVER_H

#include <signal.h>

#include "channel/message.h"
#include "sandbox/sandbox_ops.h"

/* Has the first process end all others in its namespaces, then itself. */
enum { SANDBOX_END_NOW = SIGUSR2 };
/* Exit status of the first process where the one that serves was killed: this and the signal. */
enum { SANDBOX_SIGNAL = 128 };

/* On the channel of a sandbox. */
struct sandbox_message {
	struct message message;
	bool kills;             /* REQUEST_DETACH: the daemon is killed before */
	bool forgets_handles;   /* REQUEST_DETACH: another file system is attached next */
	int64_t kill_during_ns; /* the daemon is killed so long after the next call began; 0: not */
};

/* The first process of the namespaces. It starts the one that serves and then only waits:
 * that one may be caught in a call that a daemon of the same namespace does not answer, so it
 * cannot be the one whose death ends the daemon.
 * owner_pidfd says whether the owner still lives. */
_Noreturn void namespace_init_run(const struct sandbox_ops *ops,
				  const struct sandbox_options *options,
				  struct sandbox_message *message, int owner_pidfd);

/* Serves the channel until it is killed. owner_pidfd is that of the first process. */
_Noreturn void sandbox_server_run(const struct sandbox_ops *ops,
				  const struct sandbox_options *options,
				  struct sandbox_message *message, int owner_pidfd);

#endif
