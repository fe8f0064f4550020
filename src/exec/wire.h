/* wire.h -- inside exec: the memory a crew shares with one worker, and whose turn it is.
 *
 * Mapped before the worker is forked, so it lies at the same address on both sides and pointers
 * into it mean the same. Exactly one side has the turn and may touch anything but `turn` and
 * `asleep`; passing the turn publishes what was written. Large data takes memory only when
 * touched. */
#ifndef EXEC_WIRE_H
#define EXEC_WIRE_H

#include <stdatomic.h>
#include <sys/types.h>

#include "exec/exec.h"

enum { WIRE_GROUPS_MAX = 32, WIRE_STEP_MAX = 128 };

enum turn { TURN_CREW, TURN_WORKER };
enum wire_command { WIRE_CALL, WIRE_RESET };

struct wire {
	_Atomic uint32_t turn;   /* enum turn; a futex */
	_Atomic uint32_t asleep; /* the side without the turn sleeps, or is about to */
	unsigned spins;          /* tries before sleeping; 0 where there is but one CPU */

	enum wire_command command;
	bool groups_changed; /* take on these groups first */
	unsigned group_count;
	gid_t groups[WIRE_GROUPS_MAX];
	struct call call;

	int failure;                  /* errno of a worker that could not begin, or 0 */
	char step[WIRE_STEP_MAX];     /* ... and what it was about to do */
	struct outcome outcome;
	int64_t called_ns, returned_ns;

	char *text; /* of the call's arguments */
	char *data; /* of outcomes: EXEC_DATA_MAX bytes and some, page-aligned */
};

struct wire *wire_new(void); /* NULL with errno; the turn is the worker's, who begins */
void wire_free(struct wire *w);

/* Copies the call in. -E2BIG: its text and data are more than a wire holds. */
int wire_put_call(struct wire *w, const struct call *c);
void wire_put_outcome(struct wire *w, const struct outcome *o);

void wire_pass(struct wire *w, enum turn turn);
/* Waits for the turn, at most until the given time; false if it did not come. */
bool wire_await(struct wire *w, enum turn turn, int64_t until_ns);

int64_t monotonic_ns(void);

#endif
