/* inside.h -- the keeper's own side: what it does between fork and death. */
#ifndef TARGET_INSIDE_H
#define TARGET_INSIDE_H

#include <signal.h>

#include "target/board.h"
#include "target/keeper.h"

/* Tells the first process to end everyone in its namespaces, then itself. */
enum { KEEPER_END_NOW = SIGUSR2 };
/* Exit status of the first process where the one that serves was killed: this and the signal. */
enum { KEEPER_SIGNAL = 128 };

/* The first process of the namespaces. It starts the one that serves and then only stands by:
 * that one may be caught in a call that a daemon of the same namespace does not answer, so it
 * cannot be the one whose death ends the daemon.
 * owner_pidfd tells whether the owner still lives. */
_Noreturn void keeper_stand_by(const struct keeping *keeping, const struct keeper_options *options,
			       struct board *board, int owner_pidfd);

/* Serves the board until it is killed. owner_pidfd is that of the process standing by. */
_Noreturn void keeper_serve(const struct keeping *keeping, const struct keeper_options *options,
			    struct board *board, int owner_pidfd);

#endif
