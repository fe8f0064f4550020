/* test_sandbox.c -- plans carried out in a directory: mismatches at the right step, several
 * processes, hangs that end, and a directory that is gone afterwards. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tests/harness/plans.h"
#include "tests/harness/sandbox_process.h"

enum { STEPS_MAX = 200 };

static char place[] = "/tmp/assay-sandbox-XXXXXX";

static int make_place(void **state)
{
	return mkdtemp(place) ? 0 : -1;
}

/* Fails where anything was left in it. */
static int remove_place(void **state)
{
	return rmdir(place);
}

static int open_with(void **state, double deadline_seconds)
{
	struct pair *p = must_alloc(sizeof(*p));
	struct buf spec = BUF_INIT;
	struct err err = { 0 };

	buf_addf(&spec, "dir:%s", place);
	if (!pair_open(p, spec.data, deadline_seconds, &err))
		fail_msg("%s", err.text);
	buf_free(&spec);
	*state = p;
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
	pair_close(*state);
	free(*state);
	return 0;
}

/* The path of a name in the directory that is made for the tests. */
static int in_place(const char *name, char *ret, size_t size)
{
	DIR *dir = opendir(place);
	struct dirent *entry;
	int found = -1;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name == '.' && strlen(entry->d_name) > 2)
			found = snprintf(ret, size, "%s/%s/%s", place, entry->d_name, name) > 0
				      ? 0
				      : -1;
	if (dir)
		closedir(dir);
	return found;
}

static pid_t only_janitor(void)
{
	pid_t pids[BELOW_US_MAX];

	assert_int_equal(processes_below(false, pids), 1);
	return pids[0];
}

static void a_plan_is_followed_to_its_end(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[STEPS_MAX];
	struct plan_report end;
	size_t n = 0;

	/* More than one channel takes. */
	while (n + 4 <= STEPS_MAX) {
		steps[n++] = pair_step(p, "mkdir(\"a\", 0755)");
		steps[n++] =
			pair_step(p, "write_file(\"a/f\", O_CREAT|O_RDWR, data(7, 5000), 5000, 3)");
		steps[n++] = pair_step(p, "unlink(\"a/f\")");
		steps[n++] = pair_step(p, "rmdir(\"a\")");
	}
	end = pair_follow(p, steps, n);
	assert_int_equal(end.fate, FATE_FINE);
	assert_int_equal(end.done, n);
}

static void a_wrong_outcome_ends_the_plan(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = {
		pair_step(p, "mkdir(\"a\", 0755)"),
		pair_step(p, "symlink(\"some where\", \"s\")"),
		pair_step(p, "readlink(\"s\")"),
		pair_step(p, "rmdir(\"a\")"),
	};
	struct plan_report end;

	steps[2].expected.bytes = "else where";
	end = pair_follow(p, steps, ARRAY_LEN(steps));
	assert_int_equal(end.done, 2);
	assert_true(end.outcome_differs);
	assert_false(end.tree_differs);
	assert_int_equal(end.outcome.error, 0);
	assert_int_equal(end.outcome.len, 10);
	assert_memory_equal(end.outcome.bytes, "some where", 10);
	/* The step behind it was not made. */
	assert_int_equal(pair_follow(p, &steps[3], 1).done, 1);
}

static void a_wrong_tree_ends_the_plan(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = {
		pair_step(p, "mkdir(\"a\", 0755)"),
		pair_step(p, "mkdir(\"a/b\", 0755)"),
		pair_step(p, "mkdir(\"a/b/c\", 0755)"),
	};
	struct plan_report end;

	steps[1].tree.lo++;
	end = pair_follow(p, steps, ARRAY_LEN(steps));
	assert_int_equal(end.done, 1);
	assert_false(end.outcome_differs);
	assert_true(end.tree_differs);
}

static void what_is_not_exact_is_reported(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = { pair_step(p, "mkdir(\"a\", 0755)"),
				     pair_step(p, "mkdir(\"a\", 0755)") };
	struct plan_report end;

	steps[1].exact = false;
	end = pair_follow(p, steps, ARRAY_LEN(steps));
	assert_int_equal(end.done, 1);
	assert_false(end.outcome_differs || end.tree_differs);
	assert_int_equal(end.outcome.error, EEXIST);
}

static void an_observed_tree_is_the_models(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = {
		pair_step(p, "mkdir(\"a\", 0700)"),
		pair_step(p, "write_file(\"a/f\", O_CREAT|O_WRONLY, data(3, 9000), 9000, 4096)"),
		pair_step(p, "link(\"a/f\", \"g\")"),
		pair_step(p, "symlink(\"a/f\", \"s\")"),
	};
	struct err err = { 0 };
	enum target_fate fate;
	struct tree seen;
	struct buf diff = BUF_INIT;

	assert_int_equal(pair_follow(p, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
	assert_int_equal(target_observe(p->target, &seen, &fate, &err), 0);
	assert_int_equal(fate, FATE_FINE);
	tree_diff(&p->state.tree, &seen, 10, &diff);
	assert_string_equal(buf_str(&diff), "");
	assert_true(hash_equal(tree_hash(&p->state.tree), tree_hash(&seen)));
	tree_free(&seen);
	buf_free(&diff);
}

static void a_reset_leaves_nothing(void **state)
{
	struct pair *p = *state;
	struct hash fresh = tree_hash(&p->state.tree);
	struct plan_step steps[] = {
		pair_step(p, "mkdir(\"a\", 0500)"),
		pair_step(p, "mkdir(\"b\", 0755)"),
		pair_step(p, "mkdir(\"b/c\", 0500)"),
		pair_step(p, "chmod(\"/\", 0700)"),
	};
	enum target_fate fate;
	struct tree seen;

	assert_int_equal(pair_follow(p, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
	assert_int_equal(target_reset(p->target, NULL), 0);
	assert_int_equal(target_observe(p->target, &seen, &fate, NULL), 0);
	assert_true(hash_equal(fresh, tree_hash(&seen)));
	tree_free(&seen);
}

static void no_path_leads_out(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = {
		pair_step(p, "symlink(\"/\", \"s\")"), pair_step(p, "mkdir(\"s/a\", 0755)"),
		pair_step(p, "mkdir(\"/b\", 0755)"),   pair_step(p, "mkdir(\"../c\", 0755)"),
		pair_step(p, "rmdir(\"/../../a\")"),
	};

	if (geteuid())
		skip();
	assert_int_equal(pair_follow(p, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
}

/* A script is foreign input: the machine's devices and the user's disk are not its own. */
static void no_device_is_opened_and_no_disk_filled(void **state)
{
	struct pair *p = *state;
	struct plan_step step = {
		.call = pair_call(p, "fallocate_file(\"f\", 0, 0, 75161927680)"),
	};
	struct plan_report end;
	struct err err = { 0 };

	if (geteuid())
		skip();
	pair_do(p, "mknod(\"null\", S_IFCHR|0600, 259)");
	pair_do(p, "create_file(\"f\", O_CREAT|O_RDWR, 0600)");
	assert_int_equal(target_follow(p->target, &step, 1, &end, &err), -EDQUOT);
	assert_non_null(strstr(err.text, "is not made"));
	step.call = pair_call(p, "open(\"null\", O_RDWR)");
	end = pair_follow(p, &step, 1);
	assert_int_equal(end.outcome.error, EACCES);
	step.call = pair_call(p, "[2] create_process(0, 0)");
	assert_int_equal(pair_follow(p, &step, 1).outcome.error, 0);
	step.call = pair_call(p, "[2] open(\"null\", O_RDWR)");
	end = pair_follow(p, &step, 1);
	assert_int_equal(end.outcome.error, EACCES);
}

static void processes_have_users(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = {
		pair_step(p, "mkdir(\"a\", 0755)"),
		pair_step(p, "[2] create_process(1000, 1000)"),
		pair_step(p, "[2] mkdir(\"a/b\", 0755)"),
		pair_step(p, "chmod(\"a\", 0777)"),
		pair_step(p, "[2] umask(0)"),
		pair_step(p, "[2] mkdir(\"a/b\", 0777)"),
		pair_step(p, "[2] destroy_process()"),
	};

	if (geteuid())
		skip();
	assert_int_equal(steps[2].expected.error, EACCES);
	assert_int_equal(pair_follow(p, steps, ARRAY_LEN(steps)).done, ARRAY_LEN(steps));
}

static void a_hang_ends_and_a_reset_helps(void **state)
{
	struct pair *p = *state;
	struct plan_step steps[] = {
		pair_step(p, "mkdir(\"a\", 0755)"),
		pair_step(p, "mknod(\"p\", S_IFIFO|0600, 0)"),
		{ .call = pair_call(p, "open(\"p\", O_RDONLY)") },
	};
	struct plan_step again = steps[0];
	struct plan_report end;
	enum target_fate fate;
	struct tree seen;

	end = pair_follow(p, steps, ARRAY_LEN(steps));
	assert_int_equal(end.fate, FATE_HUNG);
	assert_int_equal(end.done, 2);
	/* Until it is reset, it is gone. */
	assert_int_equal(target_observe(p->target, &seen, &fate, NULL), 0);
	assert_int_equal(fate, FATE_DIED);
	assert_int_equal(target_reset(p->target, NULL), 0);
	assert_int_equal(pair_follow(p, &again, 1).done, 1);
}

/* Where a call ends in a failure of ours, nothing is said about the file system. */
static void fails_with(struct pair *p, int error, const char *words)
{
	struct plan_step step = { .call = pair_call(p, "mkdir(\"x\", 0755)") };
	struct err err = { 0 };
	struct plan_report end;

	assert_int_equal(target_follow(p->target, &step, 1, &end, &err), -error);
	assert_true(failure_is_ours(-error));
	if (!strstr(err.text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static void a_sandbox_that_is_killed_is_our_failure(void **state)
{
	struct pair *p = *state;
	struct plan_step step = pair_step(p, "mkdir(\"a\", 0755)");
	enum target_fate fate;
	struct tree seen;

	kill(sandbox_server(), SIGKILL);
	fails_with(p, ECHILD, "killed by signal 9");
	fails_with(p, ECHILD, "killed by signal 9");
	assert_int_equal(target_observe(p->target, &seen, &fate, NULL), -ECHILD);
	assert_int_equal(target_reset(p->target, NULL), 0);
	assert_int_equal(pair_follow(p, &step, 1).done, 1);
}

/* What cannot be started again is not there, and may be asked for again. */
static void a_restart_that_fails_is_our_failure(void **state)
{
	struct pair *p = *state;
	enum target_fate fate;
	struct err err = { 0 };
	struct tree seen;
	char round[64];

	kill(sandbox_server(), SIGKILL);
	fails_with(p, ECHILD, "killed");
	/* The next directory is there already. */
	assert_int_equal(in_place("2", round, sizeof(round)), 0);
	assert_int_equal(mkdir(round, 0755), 0);
	assert_int_equal(target_reset(p->target, &err), -EEXIST);
	fails_with(p, ECHILD, "was not started");
	assert_int_equal(target_observe(p->target, &seen, &fate, NULL), -ECHILD);
	assert_int_equal(target_reset(p->target, NULL), 0);
	pair_do(p, "mkdir(\"a\", 0755)");
}

/* A process that is stopped, or gets no CPU, does not hang. */
static void a_sandbox_that_is_stopped_does_not_hang(void **state)
{
	struct pair *p = *state;
	struct plan_step step = pair_step(p, "mkdir(\"a\", 0755)");
	pid_t server = sandbox_server(), waker;

	kill(server, SIGSTOP);
	waker = fork();
	if (!waker) {
		sleep(6); /* twice the deadline */
		kill(server, SIGCONT);
		_exit(0);
	}
	assert_int_equal(pair_follow(p, &step, 1).done, 1);
	waitpid(waker, NULL, 0);
}

static void a_janitor_that_is_killed_leaves_nothing(void **state)
{
	struct pair *p = *state;

	pair_do(p, "mkdir(\"a\", 0755)");
	kill(only_janitor(), SIGKILL);
	/* What is left fails remove_place(). */
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
		IN_DIR(no_device_is_opened_and_no_disk_filled),
		IN_DIR(processes_have_users),
		cmocka_unit_test_setup_teardown(a_hang_ends_and_a_reset_helps, open_impatient,
						close_dir),
		IN_DIR(a_sandbox_that_is_killed_is_our_failure),
		IN_DIR(a_restart_that_fails_is_our_failure),
		cmocka_unit_test_setup_teardown(a_sandbox_that_is_stopped_does_not_hang,
						open_impatient, close_dir),
		IN_DIR(a_janitor_that_is_killed_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
