/* client.c -- the client's side of a channel: plans, calls and scans that the server carries out.
 */
#include "channel/client.h"

#include <errno.h>
#include <string.h>

#include "tree/pack.h"

enum { REQUEST_MIN_S = 10, PROGRAM_GRACE_S = 30 };

double channel_seconds(const struct channel_client *c)
{
	return c->deadline_seconds > REQUEST_MIN_S ? c->deadline_seconds : REQUEST_MIN_S;
}

int channel_failure(const struct channel_client *c, struct err *err)
{
	const struct channel *channel = &c->message->channel;

	return channel->failure ? err_set(err, -channel->failure, "%s", channel->err.text) : 0;
}

static int client_missing(struct err *err)
{
	return err_set(err, ECHILD, "the file system was not started: the last attempt failed");
}

/* Puts a step behind those there are; false if there is no room. */
static bool client_add_step(struct message *m, const struct plan_step *step)
{
	struct plan_step *to = &m->steps[m->step_count];
	size_t used = m->channel.text.used;

	if (m->step_count == MESSAGE_STEPS_MAX)
		return false;
	*to = *step;
	if (!channel_copy_call(&m->channel, &step->call, &to->call))
		return false;
	if ((step->exact && !channel_copy_outcome(&m->channel, &m->channel.text, &step->expected,
						  &to->expected)) ||
	    !channel_copy_text(&m->channel, step->part, step->part_len, &to->part)) {
		m->channel.text.used = used;
		return false;
	}
	m->step_count++;
	return true;
}

static void client_clear(struct message *m)
{
	channel_clear(&m->channel);
	m->step_count = 0;
}

/* As many steps as the channel takes, at least one. */
static int client_follow_some(const struct channel_client *c, const struct plan_step *steps,
			      size_t count, struct plan_report *ret, struct err *err)
{
	struct message *m = c->message;

	client_clear(m);
	for (size_t i = 0; i < count && client_add_step(m, &steps[i]); i++)
		;
	if (!m->step_count)
		return err_set(err, E2BIG, "the data of a call is beyond %d bytes",
			       MESSAGE_TEXT_MAX);
	m->report = (struct plan_report){ 0 };
	*ret = (struct plan_report){ .fate = c->send(c->own, REQUEST_FOLLOW, c->deadline_seconds) };
	if (ret->fate != FATE_FINE) {
		ret->done = m->report.done;
		return 0;
	}
	*ret = m->report;
	return channel_failure(c, err);
}

int channel_follow(const struct channel_client *c, const struct plan_step *steps, size_t count,
		   struct plan_report *ret, struct err *err)
{
	size_t done = 0;
	int r = 0;

	*ret = (struct plan_report){ 0 };
	if (!c)
		return client_missing(err);
	if (c->begin_plan)
		c->begin_plan(c->own);
	while (!r && done < count && ret->fate == FATE_FINE) {
		r = client_follow_some(c, steps + done, count - done, ret, err);
		done += ret->done;
		if (ret->done < c->message->step_count)
			break;
	}
	ret->done = done;
	return r;
}

int channel_call(const struct channel_client *c, const struct call *call, struct outcome *ret,
		 enum target_fate *ret_fate, struct err *err)
{
	struct plan_step step = { .call = *call };
	struct plan_report report;
	int r = channel_follow(c, &step, 1, &report, err);

	if (r)
		return r;
	*ret = report.outcome;
	*ret_fate = report.fate;
	return 0;
}

int channel_admits(const struct channel_client *c, const struct call *call, struct err *err)
{
	return c ? limits_admit(&c->message->limits, call, err) : 0;
}

int channel_race(const struct channel_client *c, const struct call *calls, size_t count,
		 uint64_t seed, struct race_outcome *ret, enum target_fate *ret_fate,
		 struct err *err)
{
	struct message *m;

	if (!c)
		return client_missing(err);
	m = c->message;
	client_clear(m);
	for (size_t i = 0; i < count; i++) {
		struct plan_step step = { .call = calls[i] };

		if (!client_add_step(m, &step))
			return err_set(err, E2BIG, "the calls of a race are too many");
	}
	m->seed = seed;
	*ret_fate = c->send(c->own, REQUEST_RACE, channel_seconds(c));
	if (*ret_fate != FATE_FINE)
		return 0;
	*ret_fate = m->fate;
	memcpy(ret, m->races, count * sizeof(*ret));
	return channel_failure(c, err);
}

/* The tree that the server has packed. */
static int client_take_tree(const struct channel_client *c, struct tree *ret, struct err *err)
{
	const struct channel_area *packed = &c->message->channel.data;
	const char *at = packed->at;

	return tree_unpack(ret, &at, at + packed->used, c->fields, true, err);
}

int channel_race_look(const struct channel_client *c, const struct call *calls, size_t count,
		      struct race_outcome *ret, struct tree *ret_tree, enum target_fate *ret_fate,
		      struct err *err)
{
	int r;

	if (c)
		c->message->fate = FATE_DIED; /* until it is served */
	r = channel_race(c, calls, count, 0, ret, ret_fate, err);
	return r || *ret_fate != FATE_FINE ? r : client_take_tree(c, ret_tree, err);
}

int channel_observe(const struct channel_client *c, struct tree *ret, enum target_fate *ret_fate,
		    struct err *err)
{
	int r;

	if (!c)
		return client_missing(err);
	*ret_fate = c->send(c->own, REQUEST_OBSERVE, channel_seconds(c));
	if (*ret_fate != FATE_FINE)
		return 0;
	r = channel_failure(c, err);
	*ret_fate = c->message->fate;
	return r || *ret_fate != FATE_FINE ? r : client_take_tree(c, ret, err);
}

int channel_run_program(const struct channel_client *c, const struct buf *program, double seconds,
			struct program_report *ret, struct err *err)
{
	struct message *m;
	int r;

	*ret = (struct program_report){ .fate = PROGRAM_HUNG };
	if (!c)
		return client_missing(err);
	m = c->message;
	client_clear(m);
	if (!channel_fill(&m->channel.text, program->data, program->len))
		return err_set(err, E2BIG, "a program has %zu bytes", program->len);
	m->program_seconds = seconds;
	switch (c->send(c->own, REQUEST_PROGRAM, seconds + PROGRAM_GRACE_S)) {
	case FATE_HUNG:
		return 0;
	case FATE_ALARM:
	case FATE_DIED:
		return err_set(err, EIO, "what serves the file system died under a program");
	case FATE_FINE:
		break;
	}
	r = channel_failure(c, err);
	if (r)
		return r;
	ret->fate = m->program_fate;
	ret->status = m->program_status;
	buf_add(&ret->output, m->channel.data.at, m->channel.data.used);
	return 0;
}
