/* worker_channel.h -- inside exec: the memory a crew shares with one worker, and whose turn it is.
 *
 * A turn carries one call or several: handing over costs far more than most calls do.
 *
 * Mapped before the worker is forked, so it lies at the same address on both sides and pointers
 * into it mean the same. Exactly one side has the turn and may touch anything but `turn` and
 * `asleep` (and look at `done`); passing the turn publishes what was written. Large data takes
 * memory only when touched. */
#ifndef SANDBOX_WORKER_CHANNEL_H
#define SANDBOX_WORKER_CHANNEL_H

#include <stdatomic.h>
#include <sys/types.h>

#include "syscall/syscall.h"

enum {
	WIRE_GROUPS_MAX = 32,
	WIRE_STEP_MAX = 128,
	WIRE_DATA_KEPT = 4 << 20, /* a turn whose outcomes have more data than this ends early */
};

enum turn { TURN_CREW, TURN_WORKER };
enum wire_command { WIRE_CALLS, WIRE_RESET };

struct wire_call {
	struct call call;
	struct outcome outcome;
	int64_t called_ns, returned_ns;
};

struct wire {
	_Atomic uint32_t turn;   /* enum turn; a futex */
	_Atomic uint32_t asleep; /* the side without the turn sleeps, or is about to */
	_Atomic uint32_t done;   /* calls of this turn that have outcomes */
	unsigned spins;          /* tries before sleeping; 0 where there is but one CPU */

	enum wire_command command;
	/* A race: the calls begin when this many have come to the gate, and a little later. */
	_Atomic uint32_t *gate; /* NULL: none */
	uint32_t racers, delay;
	bool groups_changed; /* take on these groups first */
	unsigned group_count;
	gid_t groups[WIRE_GROUPS_MAX];

	int failure;              /* errno of what a worker could not do for itself, or 0 */
	char step[WIRE_STEP_MAX]; /* ... and what that was */

	char *text; /* of the calls' arguments */
	char *data; /* of their outcomes, page-aligned */
	size_t text_used, data_used;
	unsigned count;
	struct wire_call calls[EXEC_BATCH_MAX];
};

struct wire *wire_new(void); /* NULL with errno; the turn is the worker's, who begins */
void wire_free(struct wire *w);

void wire_clear(struct wire *w);
/* Copies a call in. -E2BIG: its text and data, or its number, are more than a wire holds. */
int wire_add_call(struct wire *w, const struct call *c);
/* Where the next outcome's data may go: page-aligned, EXEC_DATA_MAX bytes and BUFFER_SLACK. */
char *wire_room(struct wire *w);
void wire_add_outcome(struct wire *w, const struct outcome *o);

void wire_pass(struct wire *w, enum turn turn);
/* Waits for the turn, at most until the given time; false if it did not come. */
bool wire_await(struct wire *w, enum turn turn, int64_t until_ns);

/* What a processor likes to do while it spins. */
static inline void wire_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

#endif
