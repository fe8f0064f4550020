/* errands.h -- the owner's side of a board: plans, calls and walks to be carried out elsewhere. */
#ifndef TARGET_ERRANDS_H
#define TARGET_ERRANDS_H

#include "target/board.h"

struct errands {
	struct board *board;
	unsigned fields;
	double deadline_seconds; /* of a call */
	void *own;
	/* Has the errand run and waits for its end; a step may take so many seconds. */
	enum target_fate (*send)(void *own, enum board_errand errand, double seconds);
};

/* Of a walk, or of mounting: these may take longer than a call. */
double errands_seconds(const struct errands *e);
/* What went wrong there that is no answer of the file system. */
int errands_failure(const struct errands *e, struct err *err);

int errands_follow(const struct errands *e, const struct plan_step *steps, size_t count,
		   struct plan_end *ret, struct err *err);
int errands_call(const struct errands *e, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err);
int errands_race(const struct errands *e, const struct call *calls, size_t count, uint64_t seed,
		 struct raced *ret, enum target_fate *ret_fate, struct err *err);
int errands_observe(const struct errands *e, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err);
/* Runs a compiled program there; one that outlives even its end has hung. */
int errands_run_program(const struct errands *e, const struct buf *program, double seconds,
			struct program_end *ret, struct err *err);

#endif
