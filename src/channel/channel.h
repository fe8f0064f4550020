/* channel.h -- memory that two processes share, and whose turn it is.
 *
 * The memory lies at the same address on both sides, so that what is in it may point into it. One
 * side has the turn and may touch everything; the other touches only the turn, and looks at what
 * is atomic. Passing the turn publishes what was written. A pass costs a store and, where the other
 * side sleeps already, one system call.
 *
 * What the sides say to each other is a struct that begins with struct channel: struct message
 * (message.h) for sandboxes and kernels in a process, struct worker_message for a crew's worker. */
#ifndef CHANNEL_CHANNEL_H
#define CHANNEL_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "op/op.h"

enum channel_side { SIDE_CLIENT, SIDE_SERVER };

struct turn {
	_Atomic uint32_t side;   /* enum channel_side: who has the turn; a futex */
	_Atomic uint32_t asleep; /* the side without the turn sleeps, or is about to */
	unsigned spins; /* looks at the turn before sleeping, for turns shorter than a sleep */
};

/* Memory is taken only where it is written. */
struct channel_area {
	char *at;
	size_t used, max;
};

struct channel {
	struct turn turn;
	size_t size; /* of the whole mapping */
	int failure; /* of the server itself: negative errno, and why */
	struct err err;
	struct channel_area text; /* what calls and expected outcomes point to */
	struct channel_area data; /* what outcomes point to; page-aligned */
	char empty;               /* the bytes of outcomes that have none: a NUL */
};

void turn_pass(struct turn *t, enum channel_side to);
/* Waits for the turn until the given time of the monotonic clock, INT64_MAX: for ever. False if
 * that time has come, or a signal, before the turn. */
bool turn_await(struct turn *t, enum channel_side side, int64_t until_ns);

/* A mapping for a message of this size with its areas, zeroed; NULL with errno. */
void *channel_new(size_t message_size, size_t text_max, size_t data_max);
void channel_free(struct channel *c); /* NULL is none */

/* Empties both areas. */
void channel_clear(struct channel *c);
/* Copies a call, and what it points to, into the text; false if there is no room. */
bool channel_copy_call(struct channel *c, const struct call *from, struct call *to);
/* Copies an outcome, and its bytes into the area unless they lie there; false if there is no room.
 */
bool channel_copy_outcome(struct channel *c, struct channel_area *area, const struct outcome *from,
			  struct outcome *to);
/* Copies a text of this length, NULL being none, into the text; false if there is no room. */
bool channel_copy_text(struct channel *c, const char *from, size_t len, const char **to);
/* Copies bytes into an area that is empty; false if there is no room. */
bool channel_fill(struct channel_area *area, const void *bytes, size_t len);
/* Where the bytes of the next outcome may be written in place: page-aligned. */
char *channel_room(const struct channel *c);

/* What a processor likes to do while it spins. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

#endif
