/* replay.c -- calls on a fresh file system beside the model, up to the first discrepancy. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/stop.h"
#include "finding/finding.h"
#include "judge/step_over.h"
#include "plan/plan.h"
#include "trace/script.h"

/* A replay on its way: the finding gathers the calls and their outcomes from the start. */
struct replay {
	const struct replay_on *on;
	const char *sought; /* NULL: any */
	struct target *target;
	const struct model *model;
	struct state state;
	struct plan plan; /* of one step at a time */
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

/* Makes a call. Before the last one the clock is let move, so that a time that this call does not
 * set is not the time of a call before it by chance. */
static int replay_make(struct replay *r, const struct call *c, bool observe, bool last,
		       struct plan_report *ret, struct err *err)
{
	struct plan_step *step;

	plan_begin(&r->plan, &r->state);
	plan_add_any(&r->plan, c, observe);
	step = &r->plan.steps[0];
	step->reported = true;
	step->later = last;
	return plan_follow(&r->plan, r->target, ret, err);
}

/* Makes one call and judges it. */
static int replay_call(struct replay *r, const struct call *c, bool observe, bool last,
		       struct err *err)
{
	struct finding *f = r->finding;
	struct plan_report report;
	int status;

	if (has_to_end(r))
		return err_set(err, ETIME, "a replay had to end before its last call");
	/* Shrinking may have taken away the call that makes it. */
	if (!state_process(&r->state, c->pid) && c->op != OP_create_process)
		return VERDICT_UNKNOWN;
	if (would_wait(r, c))
		return VERDICT_UNKNOWN;
	status = replay_make(r, c, observe, last, &report, err);
	if (status < 0)
		return status;
	f->calls[f->count] = call_copy(c, &f->arena);
	if (report.fate == FATE_FINE) {
		f->outcomes[f->count] = outcome_copy(&report.outcome, &f->arena);
		f->evidence[f->count] = EVIDENCE_OBSERVED;
	}
	f->count++;
	/* The tree was seen already, and is as predicted. */
	if (r->plan.steps[0].exact && !report.outcome_differs && !report.tree_differs)
		observe = false;
	return judge_report(r->target, r->model, &r->state, c, &report, observe, &f->discrepancy,
			    err);
}

/* Another discrepancy than the one sought, or a file that a call could only make: 1 if the
 * replay continues behind it. */
static int replay_step_over(struct replay *r, struct err *err)
{
	struct discrepancy *d = &r->finding->discrepancy;
	int status = judge_step_over(r->target, d, &r->state, err);

	if (status > 0) {
		discrepancy_free(d);
		discrepancy_init(d);
	}
	return status;
}

static bool replay_seeks(const struct replay *r)
{
	const struct replay_on *on = r->on;

	if (on->knows && on->knows(on->knows_to, r->finding))
		return false;
	return !r->sought || !strcmp(r->finding->discrepancy.signature, r->sought);
}

/* One call: VERDICT_BAD if it shows what is sought. */
static int replay_one(struct replay *r, const struct call *c, bool last, struct err *err)
{
	int status = replay_call(r, c, last || !r->on->unseen, last, err);

	if (status == VERDICT_BAD ? replay_seeks(r)
				  : status < 0 || !r->finding->discrepancy.is_only_made)
		return status;
	status = replay_step_over(r, err);
	if (status < 0)
		return status;
	return status ? VERDICT_OK : VERDICT_UNKNOWN;
}

int judge_replay(const struct replay_on *on, const struct call *calls, size_t count,
		 const char *sought, struct finding *ret, struct err *err)
{
	struct replay r = {
		.on = on,
		.sought = sought,
		.target = on->target,
		.model = on->model,
		.finding = ret,
		.until_seconds = on->until_seconds,
	};
	struct predictor predictor = { .model = on->model };
	int status;

	finding_init(ret);
	buf_adds(&ret->target, on->target->name);
	ret->unseen = on->unseen;
	if ((status = target_reset(on->target, err)) < 0 ||
	    (status = target_initial_state(on->target, &r.state, err)) < 0) {
		finding_free(ret);
		return status;
	}
	plan_init(&r.plan, &predictor, &r.state);
	finding_reserve(ret, count);
	for (size_t i = 0; i < count && status == VERDICT_OK; i++)
		status = replay_one(&r, &calls[i], i + 1 == count, err);
	if (status == VERDICT_BAD) {
		ret->tries = ret->shown = 1;
	} else {
		finding_free(ret);
	}
	plan_free(&r.plan);
	state_free(&r.state);
	return status < 0 ? status : status == VERDICT_BAD;
}

int finding_verify(struct finding *f, const struct replay_on *on, unsigned times, struct err *err)
{
	struct finding again;
	int status;

	for (; f->tries < times; f->tries++) {
		status =
			judge_replay(on, f->calls, f->count, f->discrepancy.signature, &again, err);
		if (status < 0)
			return err_forget(err, status, ETIME);
		if (!status)
			continue;
		f->shown++;
		finding_free(&again);
	}
	return 0;
}
