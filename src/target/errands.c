/* errands.c -- the owner's side of a board: plans, calls and walks to be carried out elsewhere. */
#include "target/errands.h"

#include <errno.h>
#include <string.h>

#include "tree/pack.h"

enum { ERRAND_MIN_S = 10, PROGRAM_GRACE_S = 30 };

double errands_seconds(const struct errands *e)
{
	return e->deadline_seconds > ERRAND_MIN_S ? e->deadline_seconds : ERRAND_MIN_S;
}

int errands_failure(const struct errands *e, struct err *err)
{
	if (!e->board->failure)
		return 0;
	return err_set(err, -e->board->failure, "%s", e->board->err.text);
}

/* As many steps as the board takes, at least one. */
static int follow_some(const struct errands *e, const struct plan_step *steps, size_t count,
		       struct plan_end *ret, struct err *err)
{
	struct board *b = e->board;

	board_clear(b);
	for (size_t i = 0; i < count && board_add(b, &steps[i]); i++)
		;
	if (!b->step_count)
		return err_set(err, E2BIG, "the data of a call is beyond %d bytes", BOARD_TEXT_MAX);
	b->end = (struct plan_end){ 0 };
	*ret = (struct plan_end){ .fate = e->send(e->own, ERRAND_FOLLOW, e->deadline_seconds) };
	if (ret->fate != FATE_FINE) {
		ret->done = b->end.done;
		return 0;
	}
	if (b->failure)
		return errands_failure(e, err);
	*ret = b->end;
	return 0;
}

int errands_follow(const struct errands *e, const struct plan_step *steps, size_t count,
		   struct plan_end *ret, struct err *err)
{
	size_t done = 0, sent;
	int r = 0;

	*ret = (struct plan_end){ 0 };
	while (!r && done < count && ret->fate == FATE_FINE) {
		r = follow_some(e, steps + done, count - done, ret, err);
		sent = e->board->step_count;
		done += ret->done;
		if (ret->done < sent)
			break;
	}
	ret->done = done;
	return r;
}

int errands_call(const struct errands *e, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err)
{
	struct plan_step step = { .call = *c };
	struct plan_end end;
	int r = errands_follow(e, &step, 1, &end, err);

	if (r)
		return r;
	*ret = end.outcome;
	*ret_fate = end.fate;
	return 0;
}

int errands_race(const struct errands *e, const struct call *calls, size_t count, uint64_t seed,
		 struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	struct board *b = e->board;

	board_clear(b);
	for (size_t i = 0; i < count; i++) {
		struct plan_step step = { .call = calls[i] };

		if (!board_add(b, &step))
			return err_set(err, E2BIG, "the calls of a race are too many");
	}
	b->seed = seed;
	*ret_fate = e->send(e->own, ERRAND_RACE, errands_seconds(e));
	if (*ret_fate != FATE_FINE)
		return 0;
	*ret_fate = b->fate;
	memcpy(ret, b->raced, count * sizeof(*ret));
	return errands_failure(e, err);
}

int errands_observe(const struct errands *e, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err)
{
	const char *packed = e->board->answer;
	int r;

	*ret_fate = e->send(e->own, ERRAND_OBSERVE, errands_seconds(e));
	if (*ret_fate != FATE_FINE)
		return 0;
	r = errands_failure(e, err);
	*ret_fate = e->board->fate;
	if (r || *ret_fate != FATE_FINE)
		return r;
	return tree_unpack(ret, &packed, packed + e->board->answer_len, e->fields, true, err);
}

int errands_run_program(const struct errands *e, const struct buf *program, double seconds,
			struct program_end *ret, struct err *err)
{
	struct board *b = e->board;
	int r;

	*ret = (struct program_end){ .end = PROGRAM_HUNG };
	if (program->len > BOARD_TEXT_MAX)
		return err_set(err, E2BIG, "a program has %zu bytes", program->len);
	board_clear(b);
	memcpy(b->text, program->data, program->len);
	b->text_len = program->len;
	b->program_seconds = seconds;
	switch (e->send(e->own, ERRAND_PROGRAM, seconds + PROGRAM_GRACE_S)) {
	case FATE_HUNG:
		return 0;
	case FATE_ALARM:
	case FATE_DIED:
		return err_set(err, EIO, "what serves the file system died under a program");
	case FATE_FINE:
		break;
	}
	r = errands_failure(e, err);
	if (r)
		return r;
	ret->end = b->program_end;
	ret->status = b->program_status;
	buf_add(&ret->output, b->answer, b->answer_len);
	return 0;
}
