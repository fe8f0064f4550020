/* inside.h -- the keeper's own side: what it does between fork and death. */
#ifndef TARGET_INSIDE_H
#define TARGET_INSIDE_H

#include "target/board.h"
#include "target/keeper.h"

/* Serves the board until it is killed. owner_pidfd tells whether the owner still lives. */
_Noreturn void keeper_serve(const struct keeping *keeping, const struct keeper_options *options,
			    struct board *board, int owner_pidfd);

#endif
