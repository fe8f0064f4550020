/* test_check.c -- the checker: plain traces, overlapping calls, sets of outcomes, dumps, what it
 * says about a mismatch, and how it goes on. */
#include <string.h>

#include "tests/harness/traces.h"
#include "trace/script.h"

static void rejects(const char *text, unsigned line, const char *allowed, enum reach reach)
{
	struct mismatch mismatch;

	assert_int_equal(judge(PLATFORM_LINUX, text, &mismatch), VERDICT_BAD);
	assert_int_equal(mismatch.line, line);
	assert_string_equal(mismatch.allowed, allowed);
	assert_int_equal(mismatch.reach, reach);
}

static void one_call_after_another(void **state)
{
	accepts("mkdir(\"a\", 0755) = 0\nrmdir(\"a\") = 0\nrmdir(\"a\") = ENOENT\n");
	rejects("mkdir(\"a\", 0755) = EEXIST\n", 1, "0", REACH_OUTSIDE_POSIX);
	rejects("mkdir(\"a\", 0755) = 0\nunlink(\"a\") = EPERM\n", 2, "EISDIR", REACH_INSIDE_POSIX);
}

static void several_outcomes_in_one(void **state)
{
	accepts("@type trace\nmkdir \"a\" 0o755\nTau\n{EEXIST;RV_none}\nrmdir \"a\"\nTau\n-\n"
		"rmdir \"a\"\nTau\nENOENT\n");
	rejects("@type trace\nmkdir \"a\" 0o755\nTau\n{EEXIST;ENOENT}\n", 2, "RV_none",
		REACH_OUTSIDE_POSIX);
	rejects("@type trace\nrmdir \"a\"\nTau\n-\n", 2, "ENOENT", REACH_OUTSIDE_POSIX);
}

#define TWO "[2] create_process(0, 0) = 0\n"

static void overlapping_calls(void **state)
{
	/* Either of the two can be the first. */
	accepts(TWO "mkdir(\"a\", 0755)\n[2] mkdir(\"a\", 0755)\n[1] = 0\n[2] = EEXIST\n");
	accepts(TWO "mkdir(\"a\", 0755)\n[2] mkdir(\"a\", 0755)\n[2] = 0\n[1] = EEXIST\n");
	accepts(TWO
		"mkdir(\"a\", 0755)\n[2] rmdir(\"a\")\n[2] = 0\n[1] = 0\nrmdir(\"a\") = ENOENT\n");
	accepts(TWO
		"mkdir(\"a\", 0755)\n[2] rmdir(\"a\")\n[2] = ENOENT\n[1] = 0\nrmdir(\"a\") = 0\n");
	rejects(TWO "mkdir(\"a\", 0755)\n[2] mkdir(\"a\", 0755)\n[1] = 0\n[2] = 0\n", 3, "EEXIST",
		REACH_OUTSIDE_POSIX);
	/* What returned before the other was called came first. */
	rejects(TWO "mkdir(\"a\", 0755) = EEXIST\n[2] mkdir(\"a\", 0755) = 0\n", 2, "0",
		REACH_OUTSIDE_POSIX);
}

static void a_call_that_never_returns(void **state)
{
	accepts(TWO "[2] mkdir(\"a\", 0755)\nrmdir(\"a\") = 0\n");
	accepts(TWO "[2] mkdir(\"a\", 0755)\nrmdir(\"a\") = ENOENT\nrmdir(\"a\") = 0\n");
}

static void more_calls_than_can_be_followed(void **state)
{
	struct buf text = BUF_INIT;
	struct mismatch mismatch;

	for (int pid = 2; pid < 30; pid++)
		buf_addf(&text, "[%d] create_process(0, 0) = 0\n", pid);
	for (int pid = 2; pid < 30; pid++)
		buf_addf(&text, "[%d] mkdir(\"a\", 0755)\n", pid);
	assert_int_equal(judge(PLATFORM_LINUX, buf_str(&text), &mismatch), VERDICT_UNKNOWN);
	buf_free(&text);
}

#define SUM "\"da39a3ee5e6b4b0d3255bfef95601890afd80709\""

static void dumps(void **state)
{
	accepts("creat(\"f\", 0644) = 3\ndump-result \"/\"\n\"/\"|D\n\"/f\"|F|0|" SUM
		"\nend dump-result\n");
	accepts("creat(\"f\", 0644) = 3\ndump-result \"/\"\n\"/\"|D|7\n\"/f\"|F|12|0|" SUM
		"\nend dump-result\n");
	rejects("creat(\"f\", 0644) = 3\ndump-result \"/\"\n\"/\"|D\n\"/f\"|F|1|" SUM
		"\nend dump-result\n",
		2, "\"/\"|D\n\"/f\"|F|0|" SUM "\n", REACH_OUTSIDE_POSIX);
	/* A dump tells which of the hypotheses was right. */
	accepts(TWO
		"[2] mkdir(\"a\", 0755)\nmkdir(\"b\", 0755) = 0\n"
		"dump-result \"/\"\n\"/\"|D\n\"/b\"|D\nend dump-result\nrmdir(\"a\") = ENOENT\n");
}

static void undefined_calls(void **state)
{
	struct mismatch mismatch;

	assert_int_equal(
		judge(PLATFORM_POSIX,
		      "open(\"a\", O_RDONLY|O_CREAT|O_TRUNC, 0644) = 7\nrmdir(\"x\") = 0\n",
		      &mismatch),
		VERDICT_UNKNOWN);
	/* What failed has changed nothing. */
	assert_int_equal(
		judge(PLATFORM_POSIX,
		      "open(\"a\", O_RDONLY|O_TRUNC, 0644) = EINVAL\nrmdir(\"x\") = EEXIST\n",
		      &mismatch),
		VERDICT_BAD);
}

static void rules_that_speak_against_it(void **state)
{
	struct mismatch mismatch;

	assert_int_equal(judge(PLATFORM_LINUX, "rmdir(\"a\") = 0\n", &mismatch), VERDICT_BAD);
	assert_int_equal(mismatch.rule_count, 1);
	assert_int_equal(mismatch.rules[0], RULE_name_missing);
}

static int clean_up(void **state)
{
	trace_checker_free(&checker);
	script_free(&trace);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_call_after_another),
		cmocka_unit_test(several_outcomes_in_one),
		cmocka_unit_test(overlapping_calls),
		cmocka_unit_test(a_call_that_never_returns),
		cmocka_unit_test(more_calls_than_can_be_followed),
		cmocka_unit_test(dumps),
		cmocka_unit_test(undefined_calls),
		cmocka_unit_test(rules_that_speak_against_it),
	};

	return cmocka_run_group_tests(tests, NULL, clean_up);
}
