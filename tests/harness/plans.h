/* plans.h -- for tests of targets: calls from text, and what the model expects of them. */
#ifndef TESTS_PLANS_H
#define TESTS_PLANS_H

#include <errno.h>

#include "base/arena.h"
#include "base/err.h"
#include "target/target.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

/* A target beside the model. */
struct pair {
	struct target *target;
	struct model model;
	struct state state;
	struct arena arena;
};

/* False where this machine lacks something for it: why says what. */
static inline bool pair_open_with(struct pair *p, const char *spec,
				  const struct target_options *options, struct err *why)
{
	*p = (struct pair){ .arena = ARENA_INIT };
	if (target_open(&p->target, spec, options, why))
		return false;
	target_model(p->target, &p->model);
	if (target_initial_state(p->target, &p->state, why))
		fail_msg("%s: %s", spec, why->text);
	return true;
}

static inline bool pair_open(struct pair *p, const char *spec, double deadline_seconds,
			     struct err *why)
{
	struct target_options options = { .deadline_seconds = deadline_seconds };

	return pair_open_with(p, spec, &options, why);
}

static inline void pair_close(struct pair *p)
{
	state_free(&p->state);
	target_close(p->target);
	arena_free(&p->arena);
}

static inline struct call pair_call(struct pair *p, const char *text)
{
	struct err err = { 0 };
	struct call c;

	if (call_parse(&c, text, &p->arena, &err))
		fail_msg("%s", err.text);
	return c;
}

/* The next step of a plan; the model goes there. */
static inline struct plan_step pair_step(struct pair *p, const char *text)
{
	struct plan_step step = { .call = pair_call(p, text), .exact = true, .observe = true };
	struct outcome outcome;

	model_run(&p->model, &p->state, &step.call, &outcome);
	step.expected = outcome_copy(&outcome, &p->arena);
	step.tree = tree_hash(&p->state.tree);
	return step;
}

static inline struct plan_report pair_follow(struct pair *p, const struct plan_step *steps,
					     size_t count)
{
	struct err err = { 0 };
	struct plan_report end;

	if (target_follow(p->target, steps, count, &end, &err))
		fail_msg("%s", err.text);
	return end;
}

/* Makes the call on both; fails where the target mismatches. */
static inline void pair_do(struct pair *p, const char *text)
{
	struct plan_step step = pair_step(p, text);
	struct plan_report end = pair_follow(p, &step, 1);

	if (!end.done)
		fail_msg("%s: %s: fate %d, outcome %s, expected %s, tree %s", p->target->name, text,
			 end.fate, errno_name(end.outcome.error), errno_name(step.expected.error),
			 end.tree_differs ? "differs" : "as expected");
}

/* Of the tree as the target shows it now. */
static inline struct hash pair_seen(struct pair *p)
{
	enum target_fate fate = FATE_DIED;
	struct hash hash;
	struct tree tree;

	assert_int_equal(target_observe(p->target, &tree, &fate, NULL), 0);
	assert_int_equal(fate, FATE_FINE);
	hash = tree_hash(&tree);
	tree_free(&tree);
	return hash;
}

/* Exercises each of the targets that this machine can have; without any the test is skipped. */
static inline void pair_each(const char *const *specs, size_t count,
			     void (*exercise)(struct pair *p))
{
	size_t lacking = 0;

	for (size_t i = 0; i < count; i++) {
		struct err why = { 0 };
		struct pair p;

		if (!pair_open(&p, specs[i], 60, &why)) {
			if (why.code != -ENOTSUP)
				fail_msg("%s", why.text);
			print_message("# %s\n", why.text);
			lacking++;
			continue;
		}
		exercise(&p);
		pair_close(&p);
	}
	if (lacking == count)
		skip();
}

#endif
