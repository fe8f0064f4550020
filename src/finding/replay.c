/* replay.c -- calls on a fresh file system beside the model, up to the first discrepancy. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/stop.h"
#include "finding/finding.h"
#include "trace/script.h"

/* A replay on its way: the finding gathers the calls and their outcomes from the start. */
struct replay {
	struct target *target;
	const struct model *model;
	struct state state;
	struct finding *finding;
	double until_seconds;
};

static bool has_to_end(const struct replay *r)
{
	return stop_requested || (r->until_seconds > 0 && clock_seconds() >= r->until_seconds);
}

/* Where calls before it went otherwise this time, as space ends or does not, a call may meet a fifo
 * or a lock that it would wait for for ever. */
static bool would_wait(const struct replay *r, const struct call *c)
{
	struct state s = state_copy(&r->state);
	struct envelope env;
	bool waits = false;

	model_move(r->model, &s, c, &env);
	for (unsigned i = 0; i < env.rule_count && env.undefined; i++)
		waits |= env.rules[i] == RULE_open_fifo_waits || env.rules[i] == RULE_lock_waits;
	state_free(&s);
	return waits;
}

/* Makes one call and judges it. */
static int replay_call(struct replay *r, const struct call *c, bool observe, struct err *err)
{
	struct finding *f = r->finding;
	struct outcome seen;
	enum target_fate fate;
	int status;

	if (has_to_end(r))
		return err_set(err, ETIME, "a replay had to end before its last call");
	/* Shrinking may have taken away the call that makes it. */
	if (!state_process(&r->state, c->pid) && c->op != OP_create_process)
		return VERDICT_UNKNOWN;
	if (would_wait(r, c))
		return VERDICT_UNKNOWN;
	status = target_call(r->target, c, &seen, &fate, err);
	if (status < 0)
		return status;
	f->calls[f->count] = call_copy(c, &f->arena);
	if (fate == FATE_FINE) {
		f->outcomes[f->count] = outcome_copy(&seen, &f->arena);
		f->evidence[f->count] = EVIDENCE_OBSERVED;
	}
	f->count++;
	if (fate != FATE_FINE)
		return judge_fate(r->target, r->model, &r->state, c, fate, &f->discrepancy, err);
	return judge_answer(r->target, r->model, &r->state, c, &seen, observe, &f->discrepancy,
			    err);
}

int judge_replay(struct target *t, const struct model *m, const struct call *calls, size_t count,
		 bool observe_all, double until_seconds, struct finding *ret, struct err *err)
{
	struct replay r = {
		.target = t,
		.model = m,
		.finding = ret,
		.until_seconds = until_seconds,
	};
	int status;

	finding_init(ret);
	buf_adds(&ret->target, t->name);
	if ((status = target_reset(t, err)) < 0 ||
	    (status = target_initial_state(t, &r.state, err)) < 0) {
		finding_free(ret);
		return status;
	}
	finding_reserve(ret, count);
	for (size_t i = 0; i < count && status == VERDICT_OK; i++)
		status = replay_call(&r, &calls[i], observe_all || i + 1 == count, err);
	if (status == VERDICT_BAD) {
		ret->tries = ret->shown = 1;
	} else {
		finding_free(ret);
	}
	state_free(&r.state);
	return status < 0 ? status : status == VERDICT_BAD;
}

int finding_verify(struct finding *f, struct target *t, const struct model *m, unsigned times,
		   double until_seconds, struct err *err)
{
	struct finding again;
	int status;

	for (; f->tries < times; f->tries++) {
		status = judge_replay(t, m, f->calls, f->count, true, until_seconds, &again, err);
		if (status < 0)
			return err_forget(err, status, ETIME);
		if (!status)
			continue;
		f->shown += !strcmp(again.discrepancy.signature, f->discrepancy.signature);
		finding_free(&again);
	}
	return 0;
}
