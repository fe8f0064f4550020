/* test_step_over.c -- a replay continues behind discrepancies that it does not seek. */
#include "tests/harness/replays.h"

/* A replay that seeks one discrepancy continues behind others. */
static void others_are_stepped_over(void **state)
{
	struct err err = { 0 };
	struct finding finding;
	struct replay_on on;
	struct fixture f;

	/* Link counts of directories are wrong after every mkdir, with a descriptor open. */
	begin(&f, "reffs!mkdir_nlink",
	      "open(\"f\", O_RDWR|O_CREAT, 0644)\nmkdir(\"a\", 0755)\nmkdir(\"a/b\", 0755)\n"
	      "write(3, \"x\", 1)\nrmdir(\"a/b\")\nrmdir(\"a\")\nmkdir(\"c\", 0755)\n");
	on = where(&f, 0);
	assert_int_equal(judge_replay(&on, f.calls, f.count, "TREE rmdir nlink", &finding, &err),
			 0);
	assert_int_equal(judge_replay(&on, f.calls, f.count, NULL, &finding, &err), 1);
	assert_int_equal(finding.count, 2);
	finding_free(&finding);
	end(&f);
}

/* So are times, which are no part of the state. */
static void other_times_are_stepped_over(void **state)
{
	static const char sought[] = "TIMES chmod change time of directory was not updated";
	struct err err = { 0 };
	struct finding finding;
	struct replay_on on;
	struct fixture f;

	begin(&f, "reffs!time_chmod",
	      "create_file(\"a\", O_RDWR|O_CREAT, 0644)\nchmod(\"a\", 0600)\nmkdir(\"d\", 0755)\n"
	      "chmod(\"d\", 0700)\n");
	on = where(&f, 0);
	assert_int_equal(judge_replay(&on, f.calls, f.count, sought, &finding, &err), 1);
	assert_int_equal(finding.count, 4);
	finding_free(&finding);
	end(&f);
}

static bool knows_the_first(void *to, const struct finding *f)
{
	unsigned *seen = to;

	return ++*seen == 1;
}

/* A wrong outcome of a call that leaves its descriptor alone tells nothing else of the state. */
static void wrong_outcomes_on_descriptors_are_stepped_over(void **state)
{
	struct err err = { 0 };
	struct finding finding;
	struct replay_on on;
	unsigned seen = 0;
	struct fixture f;

	begin(&f, "reffs!read_more",
	      "write_file(\"a\", O_WRONLY|O_CREAT, \"abc\", 3, 0)\nopen(\"a\", O_RDWR, 0)\n"
	      "pread(3, 10, 1)\npread(3, 10, 1)\n");
	on = where(&f, 0);
	on.knows = knows_the_first;
	on.knows_to = &seen;
	assert_int_equal(judge_replay(&on, f.calls, f.count, NULL, &finding, &err), 1);
	assert_int_equal(finding.count, 4);
	finding_free(&finding);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_stepped_over),
		cmocka_unit_test(other_times_are_stepped_over),
		cmocka_unit_test(wrong_outcomes_on_descriptors_are_stepped_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
