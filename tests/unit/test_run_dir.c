/* test_run_dir.c -- the directory of a run: made, locked, named `latest`. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "run/run_dir.h"
#include "tests/harness/unit.h"

enum { TOGETHER = 8 };

static char root[] = "/tmp/assay-run-dir-XXXXXX";

static int set_up(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	return !mkdtemp(root) || chdir(root);
}

static int tear_down(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	return chdir("/") || system(command);
}

static int open_run(struct run_dir *d, const char *out)
{
	struct err err = { 0 };

	return run_dir_open(d, "explore", "a/b", out, &err);
}

static void parents_are_made(void **state)
{
	struct run_dir d;

	assert_int_equal(open_run(&d, "a/b//c/"), 0);
	assert_int_equal(access("a/b/c", W_OK), 0);
	run_dir_close(&d);
}

static void latest_is_the_newest(void **state)
{
	struct run_dir first, second;
	char to[PATH_MAX] = "";

	assert_int_equal(open_run(&first, NULL), 0);
	assert_int_equal(open_run(&second, NULL), 0);
	assert_string_not_equal(first.path, second.path);
	assert_true(readlink("runs/latest", to, sizeof(to) - 1) > 0);
	assert_string_equal(to, second.path + strlen("runs/"));
	run_dir_close(&first);
	run_dir_close(&second);
}

/* None of those that start at the same moment fails for the others. */
static void many_start_together(void **state)
{
	struct run_dir d;
	int status;

	for (int i = 0; i < TOGETHER; i++)
		if (!fork()) {
			for (int k = 0; k < 20; k++) {
				if (open_run(&d, NULL))
					_exit(1);
				run_dir_close(&d);
			}
			_exit(0);
		}
	for (int i = 0; i < TOGETHER; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(access("runs/latest/lock", F_OK), 0);
}

static void a_second_run_is_refused(void **state)
{
	struct run_dir d;
	struct err err = { 0 };
	int status;

	assert_int_equal(open_run(&d, "run"), 0);
	if (!fork())
		_exit(run_dir_open(&d, "explore", "x", "run", &err) == -EBUSY &&
				      strstr(err.text, "run: another run, process")
			      ? 0
			      : 1);
	wait(&status);
	assert_int_equal(status, 0);
	run_dir_close(&d);
	assert_int_equal(open_run(&d, "run"), 0);
	run_dir_close(&d);
}

static void an_earlier_run_is_renamed(void **state)
{
	struct err err = { 0 };
	struct run_dir d;
	char *name;

	/* Nothing, and a directory of the user's that holds no run. */
	assert_int_equal(run_dir_set_aside("run", &name, &err), 0);
	assert_null(name);
	assert_int_equal(open_run(&d, "run"), 0);
	run_dir_close(&d);
	assert_int_equal(run_dir_set_aside("run", &name, &err), 0);
	assert_null(name);

	for (int i = 1; i <= 2; i++) {
		char expected[16];

		assert_int_equal(open_run(&d, "run"), 0);
		assert_int_equal(mkdir("run/findings", 0755), 0);
		run_dir_close(&d);
		assert_int_equal(run_dir_set_aside("run/", &name, &err), 0);
		snprintf(expected, sizeof(expected), "run.%d", i);
		assert_string_equal(name, expected);
		assert_int_equal(access("run", F_OK), -1);
		assert_int_equal(access(name, F_OK), 0);
		free(name);
	}
}

static void a_run_that_goes_on_is_not_renamed(void **state)
{
	struct err err = { 0 };
	struct run_dir d;
	char *name;
	int status;

	assert_int_equal(open_run(&d, "run"), 0);
	assert_int_equal(mkdir("run/findings", 0755), 0);
	if (!fork())
		_exit(run_dir_set_aside("run", &name, &err) == -EBUSY && !name ? 0 : 1);
	wait(&status);
	assert_int_equal(status, 0);
	assert_int_equal(access("run/findings", F_OK), 0);
	run_dir_close(&d);
}

/* The lock goes with its process, even if a child of that lives on. */
static void a_killed_run_leaves_no_lock(void **state)
{
	struct run_dir d;
	int ready[2], status;
	pid_t pid, child;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (open_run(&d, "run"))
			_exit(1);
		child = fork();
		if (child && write(ready[1], &child, sizeof(child)) < 0)
			_exit(1);
		pause();
	}
	assert_true(read(ready[0], &child, sizeof(child)) == sizeof(child));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_int_equal(open_run(&d, "run"), 0);
	run_dir_close(&d);
	kill(child, SIGKILL);
}

static void what_is_no_run_is_told(void **state)
{
	struct err err = { 0 };

	assert_int_equal(run_dir_check("none", &err), -ENOENT);
	err = (struct err){ 0 };
	assert_int_equal(mkdir("other", 0755), 0);
	assert_int_equal(run_dir_check("other", &err), -EINVAL);
	assert_int_equal(mkdir("other/findings", 0755), 0);
	assert_int_equal(run_dir_check("other", &err), 0);
}

/* Neither the lock nor the link goes where somebody else wants it. */
static void links_of_others_are_not_followed(void **state)
{
	struct run_dir d;

	assert_int_equal(mkdir("run", 0755), 0);
	assert_int_equal(symlink("../victim", "run/lock"), 0);
	assert_int_equal(open_run(&d, "run"), -ELOOP);
	assert_int_equal(access("victim", F_OK), -1);
	assert_int_equal(mkdir("runs", 0755), 0);
	assert_int_equal(mkdir("place", 0755), 0);
	assert_int_equal(symlink("../place", "runs/latest"), 0);
	assert_int_equal(open_run(&d, NULL), 0);
	assert_int_equal(rmdir("place"), 0); /* nothing was made in it */
	run_dir_close(&d);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(parents_are_made),
		TEST(latest_is_the_newest),
		TEST(many_start_together),
		TEST(a_second_run_is_refused),
		TEST(an_earlier_run_is_renamed),
		TEST(a_run_that_goes_on_is_not_renamed),
		TEST(a_killed_run_leaves_no_lock),
		TEST(what_is_no_run_is_told),
		TEST(links_of_others_are_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
