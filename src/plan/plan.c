/* plan.c -- steps predicted in the model, and followed by one target or by several. */
#include "plan/plan.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "channel/limits.h"
#include "plan/expect_times.h"
#include "plan/touched.h"

enum { PLAN_STEPS_MIN = 128 };

void plan_init(struct plan *p, const struct predictor *predictor, const struct state *s)
{
	*p = (struct plan){ .predictor = predictor, .state = state_copy(s) };
}

void plan_free(struct plan *p)
{
	state_free(&p->state);
	arena_free(&p->arena);
	free(p->steps);
	*p = (struct plan){ 0 };
}

void plan_begin_behind(struct plan *p)
{
	arena_reset(&p->arena);
	p->count = 0;
}

void plan_lead_to(struct plan *p, const struct state *s)
{
	state_free(&p->state);
	p->state = state_copy(s);
	if (p->keeps_hash)
		p->hash = state_hash(s);
}

void plan_keep_hash(struct plan *p)
{
	p->keeps_hash = true;
	p->hash = state_hash(&p->state);
}

void plan_begin(struct plan *p, const struct state *s)
{
	plan_begin_behind(p);
	plan_lead_to(p, s);
}

static struct plan_step *plan_append(struct plan *p, const struct call *c)
{
	struct plan_step *step;

	if (p->count == p->cap) {
		p->cap = p->cap ? 2 * p->cap : PLAN_STEPS_MIN;
		p->steps = must_realloc(p->steps, p->cap * sizeof(*p->steps));
	}
	step = &p->steps[p->count++];
	step->call = *c;
	step->exact = true;
	step->observe = false;
	step->part = NULL;
	step->part_len = 0;
	step->later = step->reported = step->unjudged = false;
	step->times.known = false;
	return step;
}

static void plan_expect(struct plan *p, struct plan_step *step, const struct outcome *expected)
{
	step->expected = *expected;
	if (expected->len)
		step->expected = outcome_copy(expected, &p->arena);
}

static void plan_expect_tree(struct plan_step *step, const struct tree *tree)
{
	step->observe = true;
	step->tree = tree_hash(tree);
}

/* The tree behind the last step, and its times. The times are the first
 * follower's: others have other units and rules. */
static void plan_expect_observed(const struct plan *p, struct plan_step *step,
				 const struct times_expected *times)
{
	plan_expect_tree(step, &p->state.tree);
	step->times = *times;
	step->times.known &= p->predictor->follower_count <= 1;
}

/* To where a predicted call leads; takes over the state. */
static void plan_move(struct plan *p, const struct state *after)
{
	if (p->keeps_hash)
		p->hash = state_hash_after(&p->state, p->hash, after);
	state_free(&p->state);
	p->state = *after;
}

const struct plan_step *plan_add(struct plan *p, const struct call *c, bool observe)
{
	struct times_expected times;
	struct outcome expected;
	struct plan_step *step;
	struct state after;

	if (!predict_after(p->predictor, &p->state, c, &expected, observe ? &times : NULL, &after))
		return NULL;
	plan_move(p, &after);
	step = plan_append(p, c);
	plan_expect(p, step, &expected);
	if (observe)
		plan_expect_observed(p, step, &times);
	/* What is read from the disk next is compared with all that there was before. */
	if (observe && times.is_read_anew && p->count > 1)
		p->steps[p->count - 2].part = NULL;
	return step;
}

void plan_look_at_all(struct plan *p)
{
	if (p->count)
		p->steps[p->count - 1].part = NULL;
}

const struct plan_step *plan_add_touched(struct plan *p, const struct call *c)
{
	struct state before = state_copy(&p->state);
	struct plan_step *step;

	if (!plan_add(p, c, true)) {
		state_free(&before);
		return NULL;
	}
	step = &p->steps[p->count - 1];
	step->part = touched_paths(&before, &p->state, c, &step->times, &p->arena, &step->part_len);
	state_free(&before);
	return step;
}

const struct plan_step *plan_add_any(struct plan *p, const struct call *c, bool observe)
{
	struct plan_step *step = plan_append(p, c);
	struct state before = state_copy(&p->state);
	struct times_expected times;
	struct envelope env;

	model_move(p->predictor->model, &p->state, c, &env);
	env.value.error = env.first;
	step->exact = !env.undefined;
	if (step->exact)
		plan_expect(p, step, &env.value);
	else
		step->expected = (struct outcome){ .error = env.first };
	if (observe) {
		expect_times(p->predictor->model, &before, &p->state, c, &env, &times);
		plan_expect_observed(p, step, &times);
	}
	state_free(&before);
	return step;
}

void plan_add_known(struct plan *p, const struct call *c, const struct outcome *expected,
		    const struct tree *tree)
{
	struct plan_step *step = plan_append(p, c);

	step->expected = *expected;
	if (tree)
		plan_expect_tree(step, tree);
}

/* The first `count` steps. */
static int plan_follow_some(struct plan *p, size_t count, struct target *t, struct plan_report *ret,
			    struct err *err)
{
	int status = target_follow(t, p->steps, count, ret, err);

	if (status < 0 || ret->done == count)
		return status;
	/* It may lie where the next call of the target, or of the model, puts its own. */
	ret->outcome = outcome_copy(&ret->outcome, &p->arena);
	return status;
}

int plan_follow(struct plan *p, struct target *t, struct plan_report *ret, struct err *err)
{
	return plan_follow_some(p, p->count, t, ret, err);
}

/* The first step whose expected outcome the model of this follower forbids; count if none. The plan
 * is the first follower's, whose kernel and traits may be others. */
static size_t plan_forbidden(const struct plan *p, const struct state *from, const struct model *m)
{
	struct state s = state_copy(from);
	struct envelope env;
	size_t i = 0;

	while (i < p->count &&
	       model_step(m, &s, &p->steps[i].call, &p->steps[i].expected, &env) != VERDICT_BAD)
		i++;
	state_free(&s);
	return i;
}

/* It did as predicted, which its own model forbids. */
static void plan_mismatch_forbidden(const struct plan *p, struct plan_follower *f)
{
	f->end = (struct plan_report){ .done = f->forbidden, .outcome_differs = true };
	f->end.outcome = p->steps[f->forbidden].expected;
}

static int plan_follow_one(struct plan *p, size_t count, struct plan_follower *f, struct err *err)
{
	int status = plan_follow_some(p, count, f->target, &f->end, err);

	f->end.refused = status == -LIMITS_NOT_MADE;
	status = err_forget(err, status, LIMITS_NOT_MADE);
	if (status >= 0 && f->end.done == count && f->forbidden < count)
		plan_mismatch_forbidden(p, f);
	return status;
}

int plan_follow_all(struct plan *p, const struct state *from, struct plan_follower *followers,
		    size_t count, size_t *ret_done, struct err *err)
{
	size_t steps = p->count, done;
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		struct plan_follower *f = &followers[i];

		f->forbidden = i ? plan_forbidden(p, from, &f->model) : p->count;
		if (f->forbidden < steps)
			steps = f->forbidden + 1;
	}
	done = p->count;
	for (size_t i = 0; i < count && status >= 0; i++) {
		struct plan_follower *f = &followers[i];

		status = plan_follow_one(p, steps, f, err);
		if (status >= 0 && f->end.done < steps && f->end.done < done)
			done = f->end.done;
	}
	*ret_done = done;
	return status;
}

void plan_advance(const struct plan *p, size_t from, size_t done, struct state *s)
{
	struct outcome outcome;

	if (done == p->count) {
		state_free(s);
		*s = state_copy(&p->state);
		return;
	}
	for (size_t i = from; i < done; i++)
		model_run(p->predictor->model, s, &p->steps[i].call, &outcome);
}
