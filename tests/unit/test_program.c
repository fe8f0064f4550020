/* test_program.c -- programs that are run as they are, or by a shell where there is something for
 * one to do: the same for those who look. */
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "storage/program.h"
#include "tests/harness/unit.h"

static int run(const char *command, struct buf *output)
{
	struct err err = { 0 };
	int status = -1;

	buf_clear(output);
	if (program_run(command, -1, 10, &status, output, &err))
		fail_msg("%s", err.text);
	return status;
}

static void words_are_as_a_shell_splits_them(void **state)
{
	struct buf output = BUF_INIT;

	assert_int_equal(run("cat /proc/self/cmdline", &output), 0);
	assert_int_equal(output.len, sizeof("cat\0/proc/self/cmdline"));
	assert_int_equal(run(" cat\t/proc/self/cmdline ", &output), 0);
	assert_int_equal(output.len, sizeof("cat\0/proc/self/cmdline"));
	assert_int_equal(run("printf 'a %s' b", &output), 0);
	assert_string_equal(buf_str(&output), "a b");
	assert_int_equal(run("env A=b sh -c 'exit 3'", &output), 3);
	assert_int_equal(run("A=b false", &output), 127); /* exec has no variables */
	buf_free(&output);
}

/* Neither has input, or knows more of our environment than the path. */
static void both_get_the_same(void **state)
{
	struct buf plain = BUF_INIT, by_shell = BUF_INIT;

	assert_int_equal(run("readlink /proc/self/fd/0", &plain), 0);
	assert_string_equal(buf_str(&plain), "/dev/null\n");
	assert_int_equal(run("readlink '/proc/self/fd/0'", &by_shell), 0);
	assert_string_equal(buf_str(&plain), buf_str(&by_shell));
	assert_int_equal(run("env", &plain), 0);
	assert_non_null(strstr(buf_str(&plain), "LC_ALL=C"));
	assert_null(strstr(buf_str(&plain), "HOME="));
	buf_free(&plain);
	buf_free(&by_shell);
}

static void a_program_that_is_not_there(void **state)
{
	struct buf output = BUF_INIT;

	assert_int_equal(run("no-such-program a b", &output), 127);
	assert_non_null(strstr(buf_str(&output), "not found"));
	assert_int_equal(run("/no/such/program", &output), 127);
	buf_free(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_as_a_shell_splits_them),
		cmocka_unit_test(both_get_the_same),
		cmocka_unit_test(a_program_that_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
