/* crowd.c -- plans followed by all, surprises judged one by one, and the vote. */
#include "explore/crowd.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "trace/script.h"

enum { DIFFERENCES_MAX = 1000, DIFFERENCE_TEXT_MAX = 160 };

struct member {
	struct target *target;
	struct model model;
	struct plan_end end; /* of the last plan */
	size_t forbidden;    /* the first step of the plan that it may not do as expected */
	int verdict;         /* JUDGE_, of the step that surprised */
};

struct crowd {
	struct member *members;
	size_t count;
	size_t failed;         /* the first step that surprised */
	struct str_map listed; /* allowed differences */
	struct arena arena;    /* bytes of the outcomes that surprised */
};

static int check_alike(const struct explorer *x, struct target *t, struct err *err)
{
	struct state s;
	int status = target_initial_state(t, &s, err);
	bool alike;

	if (status < 0)
		return status;
	alike = hash_equal(tree_hash(&s.tree), tree_hash(&x->fresh.tree));
	state_free(&s);
	if (alike)
		return 0;
	return err_set(err, EINVAL, "%s and %s do not begin alike: their roots differ",
		       x->target->name, t->name);
}

static void add_member(struct crowd *c, struct run *run, struct target *t)
{
	struct member *m = &c->members[c->count++];

	m->target = t;
	target_model(t, &m->model);
	run_judged_by(run, t, &m->model);
}

int crowd_new(struct crowd **ret, const struct explorer *x, struct err *err)
{
	const struct explore_options *o = x->options;
	struct crowd *c = must_alloc(sizeof(*c));
	int status = 0;

	c->members = must_alloc((o->against_count + 1) * sizeof(*c->members));
	add_member(c, x->run, x->target);
	for (size_t i = 0; i < o->against_count && !status; i++) {
		add_member(c, x->run, o->against[i]);
		status = check_alike(x, o->against[i], err);
	}
	json_object_set_new(x->run->figures, "allowed_differences", json_array());
	*ret = c;
	return status;
}

void crowd_free(struct crowd *c)
{
	if (!c)
		return;
	str_map_free(&c->listed);
	arena_free(&c->arena);
	free(c->members);
	free(c);
}

int crowd_save(const struct crowd *c, uint64_t key, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < c->count && status >= 0; i++)
		status = c->members[i].target->kind->save(c->members[i].target, key, err);
	return status;
}

int crowd_restore(const struct crowd *c, uint64_t key, struct err *err)
{
	int status = 0;

	for (size_t i = 0; i < c->count && status >= 0; i++)
		status = c->members[i].target->kind->restore(c->members[i].target, key, err);
	return status;
}

void crowd_drop(const struct crowd *c, uint64_t key)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->members[i].target->kind->drop)
			c->members[i].target->kind->drop(c->members[i].target, key);
}

/* The first step whose expected outcome the model of this member forbids; count if none. The plan
 * is the first member's, whose kernel and traits may be others. */
static size_t forbidden_step(const struct member *m, const struct state *from,
			     const struct plan_step *steps, size_t count)
{
	struct state s = state_copy(from);
	struct envelope env;
	size_t i = 0;

	while (i < count &&
	       model_step(&m->model, &s, &steps[i].call, &steps[i].expected, &env) != VERDICT_BAD)
		i++;
	state_free(&s);
	return i;
}

/* It did as expected by all models but its own. */
static void surprise_member(struct member *m, const struct plan_step *step, size_t at)
{
	m->end = (struct plan_end){ .done = at, .outcome_differs = true };
	m->end.outcome = step->expected;
}

int crowd_follow(struct crowd *c, const struct explorer *x, const struct plan_step *steps,
		 size_t count, size_t *ret_failed, struct err *err)
{
	size_t planned = count;
	int status = 0;

	for (size_t i = 1; i < c->count; i++) {
		struct member *m = &c->members[i];

		m->forbidden = forbidden_step(m, &x->state, steps, count);
		if (m->forbidden < planned)
			planned = m->forbidden + 1;
	}
	c->failed = count;
	for (size_t i = 0; i < c->count && status >= 0; i++) {
		struct member *m = &c->members[i];

		status = explorer_follow(m->target, steps, planned, &m->end, err);
		if (status >= 0 && i && m->end.done == planned && m->forbidden < planned)
			surprise_member(m, &steps[m->forbidden], m->forbidden);
		if (status >= 0 && m->end.done < planned && m->end.done < c->failed)
			c->failed = m->end.done;
	}
	*ret_failed = c->failed;
	return status;
}

static bool was_surprised(const struct crowd *c, const struct member *m)
{
	return m->end.done == c->failed && !m->end.refused;
}

void crowd_probed(struct crowd *c, const struct outcome *expected)
{
	for (size_t i = 0; i < c->count; i++)
		if (was_surprised(c, &c->members[i]))
			plan_end_of_probe(&c->members[i].end, expected);
}

/* What the targets did, and who is alone with it. */
static void tell_others(const struct crowd *c, const struct call *call, struct buf *out)
{
	size_t bad = 0;

	buf_clear(out);
	buf_adds(out, "The same call on all targets:");
	for (size_t i = 0; i < c->count; i++) {
		const struct member *m = &c->members[i];

		buf_addf(out, "\n  %s: ", m->target->name);
		if (m->end.refused && m->end.done == c->failed)
			buf_adds(out, "not made, for the space it would take");
		else if (!was_surprised(c, m))
			buf_adds(out, "as the model says");
		else if (m->end.fate != FATE_FINE)
			buf_adds(out, "no answer");
		else
			outcome_print(&m->end.outcome, call->op, DIALECT_NATIVE, out);
		if (was_surprised(c, m) && m->verdict == JUDGE_BAD) {
			buf_adds(out, m->end.tree_differs ? ", and a wrong tree" : ", not allowed");
			bad++;
		}
	}
	if (bad == c->count)
		buf_adds(out, "\nAll differ from the model: is it wrong?");
	for (size_t i = 0; c->count >= 3 && bad == 1 && i < c->count; i++)
		if (was_surprised(c, &c->members[i]) && c->members[i].verdict == JUDGE_BAD)
			buf_addf(out, "\nThe odd one out: %s", c->members[i].target->name);
	buf_addch(out, '\n');
}

/* The call, or an outcome of it, with no more than some bytes of data. */
static void add_clipped(json_t *row, const char *key, const struct call *call,
			const struct outcome *outcome)
{
	struct buf text = BUF_INIT, clipped = BUF_INIT;

	if (outcome)
		outcome_print(outcome, call->op, DIALECT_NATIVE, &text);
	else
		call_print(call, DIALECT_NATIVE, &text);
	buf_add_clipped(&clipped, buf_str(&text), DIFFERENCE_TEXT_MAX);
	json_object_set_new(row, key, json_string(buf_str(&clipped)));
	buf_free(&text);
	buf_free(&clipped);
}

/* An allowed difference is listed once for its operation and outcomes. */
static void list_difference(struct crowd *c, struct explorer *x, const struct member *m,
			    const struct call *call, const struct outcome *expected)
{
	json_t *list = json_object_get(x->run->figures, "allowed_differences"), *row;
	struct buf key = BUF_INIT;
	bool is_new;

	x->figures.differences++;
	buf_addf(&key, "%s %d %d %s", op_table[call->op].name, expected->error,
		 m->end.outcome.error, m->target->name);
	++*str_map_put(&c->listed, buf_str(&key), &is_new);
	if (is_new && json_array_size(list) < DIFFERENCES_MAX) {
		row = json_pack("{s:s}", "target", m->target->name);
		add_clipped(row, "call", call, NULL);
		add_clipped(row, "others", call, expected);
		add_clipped(row, "this", call, &m->end.outcome);
		json_array_append_new(list, row);
	}
	buf_free(&key);
}

/* The finding is captured on the target that showed it. */
static void capture_on(struct explorer *x, const struct member *m, uint32_t call,
		       const struct finding *f)
{
	struct target *target = x->target;
	struct model model = x->model;

	x->target = m->target;
	x->model = m->model;
	capture(x, call, f);
	x->target = target;
	x->model = model;
}

static int judge_member(struct crowd *c, struct explorer *x, struct member *m,
			const struct call *call, struct finding *ret, struct err *err)
{
	struct state s = state_copy(&x->state), predicted = state_copy(&x->state);
	struct outcome expected;

	m->verdict = judge_surprise(m->target, &m->model, &s, call, &m->end, ret, err);
	model_run(&x->model, &predicted, call, &expected);
	if (m->verdict == JUDGE_FINE)
		list_difference(c, x, m, call, &expected);
	state_free(&predicted);
	state_free(&s);
	return m->verdict < 0 ? m->verdict : 0;
}

/* Observing a tree overwrites what the target answered last: it is copied before. */
static void keep_outcomes(struct crowd *c)
{
	arena_reset(&c->arena);
	for (size_t i = 0; i < c->count; i++)
		if (was_surprised(c, &c->members[i]))
			c->members[i].end.outcome =
				outcome_copy(&c->members[i].end.outcome, &c->arena);
}

int crowd_judge(struct crowd *c, struct explorer *x, uint32_t number, struct err *err)
{
	struct finding *findings = must_alloc(c->count * sizeof(*findings));
	struct call call;
	int status = 0;

	universe_call(x->universe, number, &call);
	keep_outcomes(c);
	x->figures.calls++;
	for (size_t i = 0; i < c->count && status >= 0; i++) {
		finding_init(&findings[i]);
		if (was_surprised(c, &c->members[i]))
			status = judge_member(c, x, &c->members[i], &call, &findings[i], err);
	}
	tell_others(c, &call, &x->others);
	for (size_t i = 0; i < c->count; i++) {
		const struct member *m = &c->members[i];

		if (status >= 0 && was_surprised(c, m) && m->verdict == JUDGE_BAD)
			capture_on(x, m, number, &findings[i]);
		finding_free(&findings[i]);
	}
	buf_clear(&x->others);
	free(findings);
	return status;
}
