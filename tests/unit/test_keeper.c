/* test_keeper.c -- plans carried out in a directory: surprises at the right step, several
 * processes, hangs that end, and a directory that is gone afterwards. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "op/script.h"
#include "target/target.h"
#include "tests/harness/unit.h"

enum { STEPS_MAX = 200 };

static char place[] = "/tmp/assay-keeper-XXXXXX";
static struct arena arena;

struct fixture {
	struct target *target;
	struct model model;
	struct state state;
};

static int make_place(void **state)
{
	return mkdtemp(place) ? 0 : -1;
}

/* Fails where anything was left in it. */
static int remove_place(void **state)
{
	arena_free(&arena);
	return rmdir(place);
}

static int open_with(void **state, double deadline_seconds)
{
	struct target_options options = { .deadline_seconds = deadline_seconds };
	struct fixture *f = must_alloc(sizeof(*f));
	struct buf spec = BUF_INIT;
	struct err err = { 0 };

	buf_addf(&spec, "dir:%s", place);
	if (target_open(&f->target, spec.data, &options, &err))
		fail_msg("%s", err.text);
	buf_free(&spec);
	model_init(&f->model, PLATFORM_LINUX, KERNEL_CURRENT);
	if (target_initial_state(f->target, &f->state, &err))
		fail_msg("%s", err.text);
	*state = f;
	return 0;
}

static int open_dir(void **state)
{
	return open_with(state, 60);
}

static int open_impatient(void **state)
{
	return open_with(state, 3);
}

static int close_dir(void **state)
{
	struct fixture *f = *state;

	state_free(&f->state);
	target_close(f->target);
	free(f);
	return 0;
}

static struct call parse(const char *text)
{
	struct err err = { 0 };
	struct call c;

	if (call_parse(&c, text, &arena, &err))
		fail_msg("%s", err.text);
	return c;
}

/* The next step of a plan, as the model goes there. */
static struct plan_step expect(struct fixture *f, const char *text)
{
	struct plan_step step = { .call = parse(text), .exact = true, .observe = true };
	struct outcome outcome;

	model_run(&f->model, &f->state, &step.call, &outcome);
	step.expected = outcome_copy(&outcome, &arena);
	step.tree = tree_hash(&f->state.tree);
	return step;
}

static struct plan_end follow(struct fixture *f, const struct plan_step *steps, size_t count)
{
	struct err err = { 0 };
	struct plan_end end;

	if (target_follow(f->target, steps, count, &end, &err))
		fail_msg("%s", err.text);
	return end;
}

static void a_plan_is_followed_to_its_end(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[STEPS_MAX];
	struct plan_end end;
	size_t n = 0;

	/* More than one board takes. */
	while (n + 4 <= STEPS_MAX) {
		steps[n++] = expect(f, "mkdir(\"a\", 0755)");
		steps[n++] =
			expect(f, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(7, 5000), 5000, 3)");
		steps[n++] = expect(f, "unlink(\"a/f\")");
		steps[n++] = expect(f, "rmdir(\"a\")");
	}
	end = follow(f, steps, n);
	assert_int_equal(end.fate, FATE_FINE);
	assert_int_equal(end.done, n);
}

static void a_wrong_outcome_ends_the_plan(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = {
		expect(f, "mkdir(\"a\", 0755)"),
		expect(f, "symlink(\"some where\", \"s\")"),
		expect(f, "readlink(\"s\")"),
		expect(f, "rmdir(\"a\")"),
	};
	struct plan_end end;

	steps[2].expected.bytes = "else where";
	end = follow(f, steps, ARRAY_LEN(steps));
	assert_int_equal(end.done, 2);
	assert_true(end.outcome_differs);
	assert_false(end.tree_differs);
	assert_int_equal(end.outcome.error, 0);
	assert_int_equal(end.outcome.len, 10);
	assert_memory_equal(end.outcome.bytes, "some where", 10);
	/* The step behind it was not made. */
	assert_int_equal(follow(f, &steps[3], 1).done, 1);
}

static void a_wrong_tree_ends_the_plan(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = {
		expect(f, "mkdir(\"a\", 0755)"),
		expect(f, "mkdir(\"a/b\", 0755)"),
		expect(f, "mkdir(\"a/b/c\", 0755)"),
	};
	struct plan_end end;

	steps[1].tree.lo++;
	end = follow(f, steps, ARRAY_LEN(steps));
	assert_int_equal(end.done, 1);
	assert_false(end.outcome_differs);
	assert_true(end.tree_differs);
}

static void what_is_not_exact_is_reported(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = { expect(f, "mkdir(\"a\", 0755)"),
				     expect(f, "mkdir(\"a\", 0755)") };
	struct plan_end end;

	steps[1].exact = false;
	end = follow(f, steps, ARRAY_LEN(steps));
	assert_int_equal(end.done, 1);
	assert_false(end.outcome_differs || end.tree_differs);
	assert_int_equal(end.outcome.error, EEXIST);
}

static void an_observed_tree_is_the_models(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = {
		expect(f, "mkdir(\"a\", 0700)"),
		expect(f, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(3, 9000), 9000, 4096)"),
		expect(f, "link(\"a/f\", \"g\")"),
		expect(f, "symlink(\"a/f\", \"s\")"),
	};
	struct err err = { 0 };
	enum target_fate fate;
	struct tree seen;
	struct buf diff = BUF_INIT;

	assert_int_equal(follow(f, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
	assert_int_equal(target_observe(f->target, &seen, &fate, &err), 0);
	assert_int_equal(fate, FATE_FINE);
	tree_diff(&f->state.tree, &seen, 10, &diff);
	assert_string_equal(buf_str(&diff), "");
	assert_true(hash_equal(tree_hash(&f->state.tree), tree_hash(&seen)));
	tree_free(&seen);
	buf_free(&diff);
}

static void a_reset_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct hash fresh = tree_hash(&f->state.tree);
	struct plan_step steps[] = {
		expect(f, "mkdir(\"a\", 0)"),
		expect(f, "mkdir(\"b\", 0755)"),
		expect(f, "mkdir(\"b/c\", 0)"),
		expect(f, "chmod(\"/\", 0700)"),
	};
	enum target_fate fate;
	struct tree seen;

	assert_int_equal(follow(f, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
	assert_int_equal(target_reset(f->target, NULL), 0);
	assert_int_equal(target_observe(f->target, &seen, &fate, NULL), 0);
	assert_true(hash_equal(fresh, tree_hash(&seen)));
	tree_free(&seen);
}

static void no_path_leads_out(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = {
		expect(f, "symlink(\"/\", \"s\")"),
		expect(f, "mkdir(\"s/a\", 0755)"),
		expect(f, "mkdir(\"/b\", 0755)"),
		expect(f, "mkdir(\"../c\", 0755)"),
		expect(f, "rmdir(\"/../../a\")"),
	};

	if (geteuid())
		skip();
	assert_int_equal(follow(f, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
}

static void processes_have_users(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = {
		expect(f, "mkdir(\"a\", 0755)"),
		expect(f, "[2] create_process(1000, 1000)"),
		expect(f, "[2] mkdir(\"a/b\", 0755)"),
		expect(f, "chmod(\"a\", 0777)"),
		expect(f, "[2] umask(0)"),
		expect(f, "[2] mkdir(\"a/b\", 0777)"),
		expect(f, "[2] destroy_process()"),
	};

	if (geteuid())
		skip();
	assert_int_equal(steps[2].expected.error, EACCES);
	assert_int_equal(follow(f, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
}

static void a_hang_ends_and_a_reset_helps(void **state)
{
	struct fixture *f = *state;
	struct plan_step steps[] = {
		expect(f, "mkdir(\"a\", 0755)"),
		expect(f, "mknod(\"p\", S_IFIFO|0600, 0)"),
		{ .call = parse("open(\"p\", O_RDONLY)") },
	};
	struct plan_step again = steps[0];
	struct plan_end end;
	enum target_fate fate;
	struct tree seen;

	end = follow(f, steps, ARRAY_LEN(steps));
	assert_int_equal(end.fate, FATE_HUNG);
	assert_int_equal(end.done, 2);
	/* Until it is reset, it is gone. */
	assert_int_equal(target_observe(f->target, &seen, &fate, NULL), 0);
	assert_int_equal(fate, FATE_DIED);
	assert_int_equal(target_reset(f->target, NULL), 0);
	assert_int_equal(follow(f, &again, 1).done, 1);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, open_dir, close_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(a_plan_is_followed_to_its_end),
		IN_DIR(a_wrong_outcome_ends_the_plan),
		IN_DIR(a_wrong_tree_ends_the_plan),
		IN_DIR(what_is_not_exact_is_reported),
		IN_DIR(an_observed_tree_is_the_models),
		IN_DIR(a_reset_leaves_nothing),
		IN_DIR(no_path_leads_out),
		IN_DIR(processes_have_users),
		cmocka_unit_test_setup_teardown(a_hang_ends_and_a_reset_helps, open_impatient,
						close_dir),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
