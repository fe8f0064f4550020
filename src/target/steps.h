/* steps.h -- carrying out what stands on a board: plans and walks, there where the file system is.
 *
 * The board's owner waits meanwhile; what is found goes back on the board. */
#ifndef TARGET_STEPS_H
#define TARGET_STEPS_H

#include "target/board.h"

struct taker;

struct steps {
	struct board *board;
	void *own;
	/* Makes a call; -ETIME: it hung. */
	int (*call)(void *own, const struct call *c, struct outcome *ret, struct err *err);
	int (*walk)(void *own, struct tree *ret, struct err *err);
	/* Whether the file system is mounted; asked before every step. */
	bool (*attached)(void *own);
	/* Whether it is gone nevertheless (a daemon died). */
	bool (*gone)(void *own);
};

/* What a walk takes: everything that a test can have made. Also of large files. */
struct taker *steps_taker(unsigned fields, bool labelled);

void steps_follow(struct steps *s);
void steps_observe(struct steps *s);

#endif
