/* sandbox_server.h -- the sandbox's own side: what it does between fork and death. */
#ifndef SANDBOX_SANDBOX_SERVER_H
#define SANDBOX_SANDBOX_SERVER_H

#include <signal.h>

#include "channel/channel.h"
#include "sandbox/sandbox.h"

/* Tells the first process to end everyone in its namespaces, then itself. */
enum { SANDBOX_END_NOW = SIGUSR2 };
/* Exit status of the first process where the one that serves was killed: this and the signal. */
enum { SANDBOX_SIGNAL = 128 };

/* The first process of the namespaces. It starts the one that serves and then only stands by:
 * that one may be caught in a call that a daemon of the same namespace does not answer, so it
 * cannot be the one whose death ends the daemon.
 * owner_pidfd tells whether the owner still lives. */
_Noreturn void namespace_init_run(const struct sandbox_ops *keeping,
				  const struct sandbox_options *options, struct channel *channel,
				  int owner_pidfd);

/* Serves the channel until it is killed. owner_pidfd is that of the process standing by. */
_Noreturn void sandbox_server_run(const struct sandbox_ops *keeping,
				  const struct sandbox_options *options, struct channel *channel,
				  int owner_pidfd);

#endif
