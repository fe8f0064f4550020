/* test_utility.c -- what a state promises: every feature counts, and what is common counts less. */
#include <string.h>

#include "base/err.h"
#include "explore/open_list.h"
#include "explore/utility.h"
#include "model/model.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static void begin(struct state *s)
{
	struct state_options options = {
		.fields = TREE_FIELDS_DEFAULT,
		.hashed = true,
		.root_mode = 0755,
	};

	state_init(s, &options);
}

/* Makes the calls, all of which succeed. */
static void make(struct state *s, const char *text)
{
	struct script script = { 0 };
	struct outcome outcome;
	struct model m;
	struct err err = { 0 };

	model_init(&m, PLATFORM_LINUX, KERNEL_CURRENT);
	if (script_parse(&script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < script.count; i++) {
		if (script.items[i].type != ITEM_CALL)
			continue;
		model_run(&m, s, &script.items[i].call, &outcome);
		assert_int_equal(outcome.error, 0);
	}
	script_free(&script);
}

static double score_of(struct utility *u, const char *text, unsigned dirty)
{
	struct state s;
	double score;

	begin(&s);
	make(&s, text);
	score = utility_score(u, &s, dirty);
	state_free(&s);
	return score;
}

/* Each differs from all others by a feature. */
static const char *const rows[] = {
	"mkdir(\"a\", 0755)\n",
	"mkdir(\"a\", 0755)\nmkdir(\"a/b\", 0755)\n",
	"mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nlink(\"a\", \"b\")\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nchmod(\"a\", 04755)\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nchown(\"a\", 1000, 1000)\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nsetxattr(\"a\", \"user.x\", \"1\", 1, 0)\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nopen(\"a\", O_RDONLY)\n",
	"create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nopen(\"a\", O_RDONLY)\nunlink(\"a\")\n",
	"write_file(\"a\", O_CREAT|O_WRONLY, \"x\", 1, 0)\n",
	"write_file(\"a\", O_CREAT|O_WRONLY, data(1, 4096), 4096, 0)\n",
	"write_file(\"a\", O_CREAT|O_WRONLY, data(1, 8192), 8192, 0)\n",
	"write_file(\"a\", O_CREAT|O_WRONLY, data(1, 4096), 4096, 4096)\n",
	"symlink(\"a\", \"b\")\n",
	"mknod(\"a\", S_IFIFO|0600, 0)\n",
};

static void every_feature_counts(void **state)
{
	struct utility u = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (score_of(&u, rows[i], 0) != 1)
			fail_msg("not new: %s", rows[i]);
	utility_free(&u);
}

static void names_do_not_count(void **state)
{
	struct utility u = { 0 };

	assert_true(score_of(&u, "mkdir(\"a\", 0755)\n", 0) == 1);
	assert_true(score_of(&u, "mkdir(\"b\", 0755)\n", 0) == 0.5);
	assert_true(score_of(&u, "mkdir(\"c\", 0700)\n", 0) < 0.5);
	utility_free(&u);
}

static void unsynced_changes_count_by_class(void **state)
{
	struct utility u = { 0 };

	assert_true(score_of(&u, rows[0], 0) == 1);
	assert_true(score_of(&u, rows[0], 1) == 1);
	assert_true(score_of(&u, rows[0], 4) == 1);
	assert_true(score_of(&u, rows[0], 5) < 1);
	utility_free(&u);
}

/* Openings come out of the list in the order of the strategy. */
static void check_order(enum strategy strategy, const unsigned *expected)
{
	static const double scores[] = { 0.3, 0.9, 0.1, 0.5 };
	struct open_list list = { .strategy = strategy };
	struct open_state open_states[4];

	memset(open_states, 0, sizeof(open_states));
	for (unsigned i = 0; i < 4; i++) {
		open_states[i].score = scores[i];
		open_list_add(&list, &open_states[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_ptr_equal(open_list_take(&list), &open_states[expected[i]]);
	assert_null(open_list_first(&list));
	open_list_free(&list);
}

static void the_most_promising_comes_first(void **state)
{
	check_order(STRATEGY_DFS, (const unsigned[]){ 3, 2, 1, 0 });
	check_order(STRATEGY_BFS, (const unsigned[]){ 0, 1, 2, 3 });
	check_order(STRATEGY_BEST, (const unsigned[]){ 1, 3, 0, 2 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_feature_counts),
		cmocka_unit_test(names_do_not_count),
		cmocka_unit_test(unsynced_changes_count_by_class),
		cmocka_unit_test(the_most_promising_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
