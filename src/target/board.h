/* board.h -- the memory that a keeper and the process that started it share.
 *
 * It is mapped before the fork and so lies at the same address in both: a step on the board may
 * point to text on the board. Whose turn it is says who may write. */
#ifndef TARGET_BOARD_H
#define TARGET_BOARD_H

#include <stdatomic.h>

#include "base/err.h"
#include "exec/exec.h"
#include "target/target.h"

enum {
	BOARD_STEPS_MAX = 64,
	BOARD_TEXT_MAX = EXEC_DATA_MAX + (1 << 20),
	BOARD_ANSWER_MAX = 256 << 20,
};

enum board_turn { TURN_OWNER, TURN_KEEPER };

enum board_errand {
	ERRAND_FOLLOW,
	ERRAND_OBSERVE,
	ERRAND_RACE,
	ERRAND_ATTACH,
	ERRAND_DETACH,
	ERRAND_CLEAR,
	ERRAND_RECORD,
	ERRAND_END,
	ERRAND_PROGRAM,
};

/* Memory is taken only where it is written. */
struct board {
	_Atomic uint32_t turn;     /* enum board_turn; a futex */
	_Atomic uint32_t progress; /* goes up with every step begun */
	_Atomic uint32_t mounting; /* the step is a remount, which takes as long as mounting may */
	enum board_errand errand;
	int failure;               /* of the keeper's own: negative errno and why */
	struct err err;
	size_t step_count;
	struct plan_end end;
	enum target_fate fate;     /* of what is not a plan */
	bool alarm;                /* a kernel that can be heard has found a mistake of its own */
	size_t text_len, answer_len;
	struct plan_step steps[BOARD_STEPS_MAX];
	uint64_t seed;             /* of a race; its calls are those of the steps */
	struct raced raced[TARGET_RACE_MAX];
	double program_seconds;    /* of a program, which is the text; its output is the answer */
	enum program_fate program_end;
	int program_status;
	char text[BOARD_TEXT_MAX];
	char answer[BOARD_ANSWER_MAX];
};

struct board *board_new(struct err *err);
void board_free(struct board *b);

/* Puts a step behind those there are; false if there is no room. */
bool board_add(struct board *b, const struct plan_step *step);
void board_clear(struct board *b);
/* A copy of the outcome with its bytes on the board; false if they are too many. */
bool board_answer(struct board *b, const struct outcome *o, struct outcome *ret);
/* The same for one of several: its bytes lie behind this many. */
bool board_answer_at(struct board *b, size_t used, const struct outcome *o, struct outcome *ret);

/* Hands over the turn, and waits for it: true once it is there, false after the given time. */
void board_pass(struct board *b, enum board_turn turn);
bool board_await(struct board *b, enum board_turn turn, int64_t wait_ns);

#endif
