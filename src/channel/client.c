/* client.c -- the owner's side of a channel: plans, calls and walks to be carried out elsewhere. */
#include "channel/client.h"

#include <errno.h>
#include <string.h>

#include "tree/pack.h"

enum { REQUEST_MIN_S = 10, PROGRAM_GRACE_S = 30 };

double channel_seconds(const struct channel_client *e)
{
	return e->deadline_seconds > REQUEST_MIN_S ? e->deadline_seconds : REQUEST_MIN_S;
}

int channel_failure(const struct channel_client *e, struct err *err)
{
	if (!e->channel->failure)
		return 0;
	return err_set(err, -e->channel->failure, "%s", e->channel->err.text);
}

/* As many steps as the channel takes, at least one. */
static int follow_some(const struct channel_client *e, const struct plan_step *steps, size_t count,
		       struct plan_end *ret, struct err *err)
{
	struct channel *b = e->channel;

	channel_clear(b);
	for (size_t i = 0; i < count && channel_add(b, &steps[i]); i++)
		;
	if (!b->step_count)
		return err_set(err, E2BIG, "the data of a call is beyond %d bytes",
			       CHANNEL_TEXT_MAX);
	b->end = (struct plan_end){ 0 };
	*ret = (struct plan_end){ .fate = e->send(e->own, REQUEST_FOLLOW, e->deadline_seconds) };
	if (ret->fate != FATE_FINE) {
		ret->done = b->end.done;
		return 0;
	}
	*ret = b->end;
	return channel_failure(e, err);
}

int channel_follow(const struct channel_client *e, const struct plan_step *steps, size_t count,
		   struct plan_end *ret, struct err *err)
{
	size_t done = 0, sent;
	int r = 0;

	*ret = (struct plan_end){ 0 };
	while (!r && done < count && ret->fate == FATE_FINE) {
		r = follow_some(e, steps + done, count - done, ret, err);
		sent = e->channel->step_count;
		done += ret->done;
		if (ret->done < sent)
			break;
	}
	ret->done = done;
	return r;
}

int channel_call(const struct channel_client *e, const struct call *c, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err)
{
	struct plan_step step = { .call = *c };
	struct plan_end end;
	int r = channel_follow(e, &step, 1, &end, err);

	if (r)
		return r;
	*ret = end.outcome;
	*ret_fate = end.fate;
	return 0;
}

int channel_race(const struct channel_client *e, const struct call *calls, size_t count,
		 uint64_t seed, struct raced *ret, enum target_fate *ret_fate, struct err *err)
{
	struct channel *b = e->channel;

	channel_clear(b);
	for (size_t i = 0; i < count; i++) {
		struct plan_step step = { .call = calls[i] };

		if (!channel_add(b, &step))
			return err_set(err, E2BIG, "the calls of a race are too many");
	}
	b->seed = seed;
	*ret_fate = e->send(e->own, REQUEST_RACE, channel_seconds(e));
	if (*ret_fate != FATE_FINE)
		return 0;
	*ret_fate = b->fate;
	memcpy(ret, b->raced, count * sizeof(*ret));
	return channel_failure(e, err);
}

int channel_observe(const struct channel_client *e, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err)
{
	const char *packed = e->channel->answer;
	int r;

	*ret_fate = e->send(e->own, REQUEST_OBSERVE, channel_seconds(e));
	if (*ret_fate != FATE_FINE)
		return 0;
	r = channel_failure(e, err);
	*ret_fate = e->channel->fate;
	if (r || *ret_fate != FATE_FINE)
		return r;
	return tree_unpack(ret, &packed, packed + e->channel->answer_len, e->fields, true, err);
}

int channel_run_program(const struct channel_client *e, const struct buf *program, double seconds,
			struct program_end *ret, struct err *err)
{
	struct channel *b = e->channel;
	int r;

	*ret = (struct program_end){ .end = PROGRAM_HUNG };
	if (program->len > CHANNEL_TEXT_MAX)
		return err_set(err, E2BIG, "a program has %zu bytes", program->len);
	channel_clear(b);
	memcpy(b->text, program->data, program->len);
	b->text_len = program->len;
	b->program_seconds = seconds;
	switch (e->send(e->own, REQUEST_PROGRAM, seconds + PROGRAM_GRACE_S)) {
	case FATE_HUNG:
		return 0;
	case FATE_ALARM:
	case FATE_DIED:
		return err_set(err, EIO, "what serves the file system died under a program");
	case FATE_FINE:
		break;
	}
	r = channel_failure(e, err);
	if (r)
		return r;
	ret->end = b->program_end;
	ret->status = b->program_status;
	buf_add(&ret->output, b->answer, b->answer_len);
	return 0;
}
