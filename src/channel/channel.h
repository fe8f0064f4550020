/* channel.h -- the memory that a sandbox and the process that started it share.
 *
 * It is mapped before the fork and so lies at the same address in both: a step on the channel may
 * point to text on the channel. Whose turn it is says who may write. */
#ifndef CHANNEL_CHANNEL_H
#define CHANNEL_CHANNEL_H

#include <stdatomic.h>

#include "base/err.h"
#include "channel/limits.h"
#include "channel/request.h"
#include "syscall/syscall.h"

enum {
	CHANNEL_STEPS_MAX = 64,
	CHANNEL_TEXT_MAX = EXEC_DATA_MAX + (1 << 20),
	CHANNEL_ANSWER_MAX = 256 << 20,
};

enum channel_turn { TURN_CLIENT, TURN_SERVER };

enum channel_request {
	REQUEST_FOLLOW,
	REQUEST_OBSERVE,
	REQUEST_RACE,
	REQUEST_ATTACH,
	REQUEST_DETACH,
	REQUEST_CLEAR,
	REQUEST_RECORD,
	REQUEST_END,
	REQUEST_PROGRAM,
};

/* Memory is taken only where it is written. */
struct channel {
	_Atomic uint32_t turn;     /* enum channel_turn; a futex */
	_Atomic uint32_t progress; /* goes up with every step begun */
	_Atomic uint32_t mounting; /* the step is a remount, which takes as long as mounting may */
	enum channel_request request;
	int failure; /* of the sandbox's own: negative errno and why */
	struct err err;
	struct limits limits; /* as of the last mount; no bound and nothing refused: none */
	size_t step_count;
	struct plan_end end;
	enum target_fate fate; /* of what is not a plan */
	bool alarm;            /* a kernel that can be heard has found a mistake of its own */
	size_t text_len, answer_len;
	struct plan_step steps[CHANNEL_STEPS_MAX];
	uint64_t seed; /* of a race; its calls are those of the steps */
	struct raced raced[TARGET_RACE_MAX];
	double program_seconds; /* of a program, which is the text; its output is the answer */
	enum program_fate program_end;
	int program_status;
	char text[CHANNEL_TEXT_MAX];
	char answer[CHANNEL_ANSWER_MAX];
};

struct channel *channel_new(struct err *err);
void channel_free(struct channel *b);

/* Puts a step behind those there are; false if there is no room. */
bool channel_add(struct channel *b, const struct plan_step *step);
void channel_clear(struct channel *b);
/* A copy of the outcome with its bytes on the channel; false if they are too many. */
bool channel_answer(struct channel *b, const struct outcome *o, struct outcome *ret);
/* The same for one of several: its bytes lie behind this many. */
bool channel_answer_at(struct channel *b, size_t used, const struct outcome *o,
		       struct outcome *ret);

/* Hands over the turn, and waits for it: true once it is there, false after the given time. */
void channel_pass(struct channel *b, enum channel_turn turn);
bool channel_await(struct channel *b, enum channel_turn turn, int64_t wait_ns);

#endif
