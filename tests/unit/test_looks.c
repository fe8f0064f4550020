/* test_looks.c -- looks at what a call can have touched show the faults of RefFS: those that change
 * something else, which only a look at the whole tree shows, are few and known. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "broken/faults.h"
#include "plan/plan.h"
#include "tests/harness/plans.h"

/* These change what their call neither names nor changes. */
static const char *const later[] = { "unlink_other" };

static bool is_later(const char *fault)
{
	for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (!strcmp(later[i], fault))
			return true;
	return false;
}

/* How much of a path is looked at: 0 all, 1 attributes, 2 what stat says, 3 nothing. */
static unsigned part_less(const struct plan_step *step, const char *path, size_t len)
{
	for (const char *at = step->part; at < step->part + step->part_len; at += strlen(at) + 1) {
		unsigned less = 0;

		while (at[less] == SCAN_PART_LESS)
			less++;
		if (strlen(at + less) == len && !memcmp(at + less, path, len))
			return less;
		at += less;
	}
	return 3;
}

/* Whether a look at the part shows what a line of tree_diff() says: "/PATH: WHAT". */
static bool part_shows(const struct plan_step *step, const char *line)
{
	const char *what = strstr(line, ": ") + 2, *path = line + 1, *above;
	size_t len = (size_t)(what - 2 - path);
	unsigned less = part_less(step, len ? path : ".", len ? len : 1);

	if (!strncmp(what, "data", 4))
		return !less;
	if (!strncmp(what, "attribute", 9))
		return less <= 1;
	if (less < 3 || (strncmp(what, "missing", 7) && strncmp(what, "unexpected", 10)))
		return less < 3;
	above = memrchr(path, '/', len);
	return !part_less(step, above ? path : ".", above ? (size_t)(above - path) : 1);
}

static bool part_shows_any(const struct plan_step *step, char *lines)
{
	bool shown = false;

	for (char *save = NULL, *line = strtok_r(lines, "\n", &save); line && !shown;
	     line = strtok_r(NULL, "\n", &save))
		shown = part_shows(step, line);
	return shown;
}

/* Makes all calls of a script on the target; the last step of the plan says what is looked at. */
static bool last_call_shows(struct target *t, const struct plan *plan, struct buf *diff)
{
	const struct plan_step *last = &plan->steps[plan->count - 1];
	enum target_fate fate = FATE_FINE;
	struct outcome outcome = { 0 };
	struct err err = { 0 };
	struct tree tree;
	char *lines;
	bool shown;

	for (size_t i = 0; i < plan->count; i++)
		assert_int_equal(target_call(t, &plan->steps[i].call, &outcome, &fate, &err), 0);
	if (!outcome_equal(&outcome, &last->expected) || !last->part)
		return true;
	assert_int_equal(target_observe(t, &tree, &fate, &err), 0);
	tree_diff(&plan->state.tree, &tree, 100, diff);
	tree_free(&tree);
	lines = must_strdup(buf_str(diff));
	shown = part_shows_any(last, lines);
	free(lines);
	return shown;
}

static void fault_shows(const struct fault_info *fault, struct universe *u)
{
	struct buf spec = BUF_INIT, diff = BUF_INIT;
	struct script script = { 0 };
	struct err err = { 0 };
	struct plan plan;
	struct pair p;

	buf_addf(&spec, "reffs!%s", fault->name);
	if (!pair_open(&p, spec.data, 0, &err) ||
	    script_parse(&script, fault->name, fault->script, strlen(fault->script), &err))
		fail_msg("%s", err.text);
	plan_init(&plan, &(struct predictor){ .model = &p.model, .universe = u }, &p.state);
	for (size_t i = 0; i + 1 < script.count; i++)
		plan_add_any(&plan, &script.items[i].call, true);
	assert_non_null(plan_add_touched(&plan, &script.items[script.count - 1].call));
	if (last_call_shows(p.target, &plan, &diff) == is_later(fault->name))
		fail_msg("%s: %s", fault->name, buf_str(&diff));
	plan_free(&plan);
	script_free(&script);
	pair_close(&p);
	buf_free(&diff);
	buf_free(&spec);
}

static void faults_show_in_what_their_calls_touch(void **state)
{
	struct err err = { 0 };
	struct universe u;

	assert_int_equal(universe_open(&u, "tiny", NULL, 0, &err), 0);
	u.nodes_max = 100;
	u.files_max = 10;
	u.size_max = 1 << 20;
	for (size_t i = 0; i < fault_count; i++)
		fault_shows(&fault_table[i], &u);
	universe_free(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_show_in_what_their_calls_touch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
