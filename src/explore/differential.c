/* differential.c -- mismatches judged target by target, and the vote. */
#include "explore/differential.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "trace/script.h"

enum { DIFFERENCES_MAX = 1000, DIFFERENCE_TEXT_MAX = 160 };

/* What the model says of one of the targets. */
struct vote {
	bool refused;    /* it did not make the call that is judged */
	bool mismatched; /* the call did, on this target */
	int verdict;     /* an enum verdict, if it did */
	struct finding finding;
};

static int differential_check_alike(const struct explorer *x, struct target *t, struct err *err)
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

int differential_begin(struct explorer *x, struct err *err)
{
	int status = 0;

	for (size_t i = 1; i < x->follower_count && !status; i++)
		status = differential_check_alike(x, x->followers[i].target, err);
	json_object_set_new(x->run->figures, "allowed_differences", json_array());
	return status;
}

/* What the targets did, and which of them is alone with it. */
static void differential_report(const struct explorer *x, const struct vote *votes,
				const struct call *call, struct buf *out)
{
	size_t bad = 0, odd = 0;

	buf_clear(out);
	buf_adds(out, "The same call on all targets:");
	for (size_t i = 0; i < x->follower_count; i++) {
		const struct plan_follower *f = &x->followers[i];

		buf_addf(out, "\n  %s: ", f->target->name);
		if (votes[i].refused)
			buf_adds(out, "not made, for the space it would take");
		else if (!votes[i].mismatched)
			buf_adds(out, "as the model says");
		else if (f->end.fate != FATE_FINE)
			buf_adds(out, "no answer");
		else
			outcome_print(&f->end.outcome, call->op, DIALECT_NATIVE, out);
		if (votes[i].mismatched && votes[i].verdict == VERDICT_BAD) {
			buf_adds(out, f->end.tree_differs ? ", and a wrong tree" : ", not allowed");
			bad++;
			odd = i;
		}
	}
	if (bad == x->follower_count)
		buf_adds(out, "\nAll differ from the model: is it wrong?");
	if (x->follower_count >= 3 && bad == 1)
		buf_addf(out, "\nThe odd one out: %s", x->followers[odd].target->name);
	buf_addch(out, '\n');
}

/* The call, or an outcome of it, with no more than some bytes of data. */
static void difference_add_clipped(json_t *row, const char *key, const struct call *call,
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
static void difference_list(struct explorer *x, const struct plan_follower *f,
			    const struct call *call, const struct outcome *expected)
{
	json_t *list = json_object_get(x->run->figures, "allowed_differences"), *row;
	struct buf key = BUF_INIT;
	bool is_new;

	x->figures.differences++;
	buf_addf(&key, "%s %d %d %s", op_table[call->op].name, expected->error,
		 f->end.outcome.error, f->target->name);
	++*str_map_put(&x->differences, buf_str(&key), &is_new);
	if (is_new && json_array_size(list) < DIFFERENCES_MAX) {
		row = json_pack("{s:s}", "target", f->target->name);
		difference_add_clipped(row, "call", call, NULL);
		difference_add_clipped(row, "others", call, expected);
		difference_add_clipped(row, "this", call, &f->end.outcome);
		json_array_append_new(list, row);
	}
	buf_free(&key);
}

static int differential_vote(struct explorer *x, const struct plan_follower *f,
			     const struct call *call, struct vote *vote, struct err *err)
{
	struct state s = state_copy(&x->state), predicted = state_copy(&x->state);
	struct outcome expected;

	vote->verdict = mismatch_judge(f, &s, call, &vote->finding, err);
	model_run(x->predictor.model, &predicted, call, &expected);
	if (vote->verdict == VERDICT_OK)
		difference_list(x, f, call, &expected);
	state_free(&predicted);
	state_free(&s);
	return vote->verdict < 0 ? vote->verdict : 0;
}

int differential_judge(struct explorer *x, uint32_t number, size_t step, struct err *err)
{
	struct vote *votes = must_alloc(x->follower_count * sizeof(*votes));
	struct arena arena = ARENA_INIT;
	struct call call;
	int status = 0;

	explorer_call(x, number, &arena, &call);
	x->figures.calls++;
	for (size_t i = 0; i < x->follower_count && status >= 0; i++) {
		const struct plan_report *end = &x->followers[i].end;

		finding_init(&votes[i].finding);
		votes[i].refused = end->done == step && end->refused;
		votes[i].mismatched = end->done == step && !end->refused;
		if (votes[i].mismatched)
			status = differential_vote(x, &x->followers[i], &call, &votes[i], err);
	}
	if (status >= 0)
		differential_report(x, votes, &call, &x->others);
	for (size_t i = 0; i < x->follower_count; i++) {
		/* The finding is captured on the target that showed it. */
		if (status >= 0 && votes[i].mismatched && votes[i].verdict == VERDICT_BAD)
			capture(x, &x->followers[i], number, &votes[i].finding);
		finding_free(&votes[i].finding);
	}
	buf_clear(&x->others);
	arena_free(&arena);
	free(votes);
	return status;
}
