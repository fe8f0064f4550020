/* test_judge.c -- broken file systems are found out, the finding shrinks and keeps its signature;
 * whole ones are left alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "run/run.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

struct fixture {
	struct target *target;
	struct model model;
	struct script script;
	struct call *calls;
	size_t count;
};

static void begin(struct fixture *f, const char *target, const char *text)
{
	struct err err = { 0 };

	*f = (struct fixture){ 0 };
	if (target_open(&f->target, target, NULL, &err) ||
	    script_parse(&f->script, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	model_init(&f->model, PLATFORM_LINUX, KERNEL_CURRENT);
	f->model.traits = f->target->traits;
	f->calls = calloc(f->script.count + 1, sizeof(*f->calls));
	for (size_t i = 0; i < f->script.count; i++)
		if (f->script.items[i].type == ITEM_CALL)
			f->calls[f->count++] = f->script.items[i].call;
}

static void end(struct fixture *f)
{
	free(f->calls);
	script_free(&f->script);
	target_close(f->target);
}

static int replay(struct fixture *f, struct finding *ret)
{
	struct err err = { 0 };
	int status = judge_replay(f->target, &f->model, f->calls, f->count, true, 0, ret, &err);

	if (status < 0)
		fail_msg("%s", err.text);
	return status;
}

static void whole_ones_pass(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs", "mkdir(\"a\", 0755)\nmkdir(\"a\", 0755)\nunlink(\"x\")\nremount()\n");
	assert_int_equal(replay(&f, &finding), 0);
	end(&f);
}

static void outcome_is_judged(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs!mkdir_enoent",
	      "mkdir(\"b\", 0755)\nmkdir(\"a\", 0755)\nmkdir(\"a\", 0755)\nmkdir(\"c\", 0755)\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_int_equal(finding.discrepancy.code, PROBLEM_OUTCOME);
	assert_string_equal(finding.discrepancy.signature, "OUTCOME mkdir ENOENT for EEXIST");
	assert_int_equal(finding.count, 3);
	assert_true(finding.discrepancy.reach == REACH_OUTSIDE_POSIX);
	assert_string_equal(buf_str(&finding.target), "reffs!mkdir_enoent");
	assert_string_equal(buf_str(&finding.discrepancy.title),
			    "mkdir(\"a\", 0755) returned ENOENT, expected EEXIST");
	finding_free(&finding);
	end(&f);
}

static void tree_is_judged(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs!unlink_nlink",
	      "create_file(\"a\", O_CREAT|O_WRONLY, 0644)\nlink(\"a\", \"b\")\nunlink(\"a\")\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_string_equal(finding.discrepancy.signature, "TREE unlink nlink");
	assert_int_equal(finding.discrepancy.fact_count, 1);
	assert_int_equal(finding.discrepancy.facts[0].kind, FACT_NLINK);
	assert_string_equal(finding.discrepancy.facts[0].path, "/b");
	assert_int_equal(finding.discrepancy.facts[0].nlink, 1);
	finding_free(&finding);
	end(&f);
}

/* Long ways round are cut, names and numbers made plain. */
static void findings_shrink(void **state)
{
	struct err err = { 0 };
	struct finding finding;
	struct fixture f;

	begin(&f, "reffs!truncate_stale",
	      "mkdir(\"d\", 0700)\ncreate_file(\"d/longer\", O_CREAT|O_EXCL|O_RDWR, 0600)\n"
	      "mkdir(\"e\", 0755)\nrename(\"d/longer\", \"e/f\")\nchmod(\"e\", 0777)\n"
	      "write_file(\"e/f\", O_WRONLY|O_SYNC, data(7, 5000), 5000, 100)\nsync()\n"
	      "link(\"e/f\", \"g\")\ntruncate(\"e/f\", 77)\nrmdir(\"d\")\ntruncate(\"g\", 4444)\n"
	      "stat(\"g\")\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_string_equal(finding.discrepancy.signature, "TREE truncate data");
	assert_int_equal(finding_shrink(&finding, f.target, &f.model, 3000, 0, &err), 0);
	assert_string_equal(finding.discrepancy.signature, "TREE truncate data");
	assert_true(finding.count <= 4);
	assert_int_equal(finding_verify(&finding, f.target, &f.model, 10, 0, &err), 0);
	assert_int_equal(finding.shown, 10);
	finding_free(&finding);
	end(&f);
}

static void findings_are_read_back(void **state)
{
	char dir[] = "/tmp/assay-test-finding.XXXXXX", command[128];
	struct finding finding, again;
	struct err err = { 0 };
	struct fixture f;

	begin(&f, "reffs!write_short", "write_file(\"a\", O_CREAT|O_WRONLY, \"xyz\", 3, 0)\n");
	assert_int_equal(replay(&f, &finding), 1);
	assert_non_null(mkdtemp(dir));
	if (finding_write(&finding, f.target, dir, &err) || finding_read(&again, dir, &err))
		fail_msg("%s", err.text);
	assert_string_equal(again.discrepancy.signature, finding.discrepancy.signature);
	assert_string_equal(buf_str(&again.target), "reffs!write_short");
	assert_int_equal(again.count, finding.count);
	for (size_t i = 0; i < again.count; i++)
		assert_true(call_equal(&again.calls[i], &finding.calls[i]));
	finding_free(&again);
	finding_free(&finding);
	end(&f);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* A call that never answered has no outcome, and what follows from it is read back. */
static void nothing_is_invented(void **state)
{
	static const char said[] = "# target: ext4\\n\\\\x\n# signature: HANG mkdir\n"
				   "mkdir(\"a\", 0755) = 0\nmkdir(\"b\", 0755)\n"
				   "#   predicted, not observed: 0\nmkdir(\"c\", 0755)\n";
	char dir[] = "/tmp/assay-test-finding.XXXXXX", path[64], command[128];
	struct finding f, again;
	struct buf trace = BUF_INIT;
	struct err err = { 0 };

	finding_init(&f);
	f.discrepancy.code = PROBLEM_HANG;
	strcpy(f.discrepancy.signature, "HANG mkdir");
	buf_adds(&f.target, "ext4\n\\x");
	finding_reserve(&f, 3);
	for (int i = 0; i < 3; i++) {
		char name[] = { (char)('a' + i), '\0' };

		f.calls[i] = (struct call){ .op = OP_mkdir, .pid = 1 };
		f.calls[i].mkdir.path.text = arena_strdup(&f.arena, name);
		f.calls[i].mkdir.path.len = 1;
		f.calls[i].mkdir.mode.num = 0755;
	}
	f.evidence[0] = EVIDENCE_OBSERVED;
	f.evidence[1] = EVIDENCE_PREDICTED;
	f.count = 3;
	assert_null(finding_observed(&f, 1));
	assert_null(finding_observed(&f, 2));
	assert_false(finding_is_confirmed(&f));
	assert_non_null(mkdtemp(dir));
	if (finding_write(&f, NULL, dir, &err))
		fail_msg("%s", err.text);
	snprintf(path, sizeof(path), "%s/trace", dir);
	assert_int_equal(buf_read_file(&trace, path, 1 << 20, &err), 0);
	assert_string_equal(buf_str(&trace), said);
	assert_int_equal(finding_read(&again, dir, &err), 0);
	assert_string_equal(buf_str(&again.target), "ext4\n\\x");
	assert_int_equal(again.count, 3);
	finding_free(&again);
	finding_free(&f);
	buf_free(&trace);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* However much data a call has, a title is one line. */
static void titles_are_bounded(void **state)
{
	struct buf text = BUF_INIT;
	struct finding finding;
	struct fixture f;

	buf_adds(&text, "write_file(\"a\", O_CREAT|O_WRONLY, \"");
	for (int i = 0; i < 3000; i++)
		buf_addch(&text, "ab"[i % 2]);
	buf_adds(&text, "\", 3000, 0)\n");
	begin(&f, "reffs!write_short", buf_str(&text));
	assert_int_equal(replay(&f, &finding), 1);
	assert_true(finding.discrepancy.title.len < 400);
	assert_non_null(strstr(buf_str(&finding.discrepancy.title), "... ("));
	finding_free(&finding);
	end(&f);
	buf_free(&text);
}

/* What a file system or a log says cannot leave its place in a README. */
static void data_stays_data_in_a_readme(void **state)
{
	static const char *const parts[] = { "Where", "Steps", "Expected", "Actual", "Cause" };
	struct buf readme = BUF_INIT;
	struct finding f;

	finding_init(&f);
	f.discrepancy.code = PROBLEM_TREE;
	buf_adds(&f.discrepancy.title, "a `tick` in\n# a title");
	buf_adds(&f.target, "fuse:x\n# not a heading");
	buf_adds(&f.discrepancy.diff, "```\n# not a heading\n````\n");
	finding_print_readme(&f, NULL, &readme);
	assert_null(strstr(readme.data, "\n# a title"));
	assert_non_null(strstr(readme.data, "`` a `tick` in # a title ``"));
	assert_non_null(strstr(readme.data, "`fuse:x # not a heading`"));
	assert_non_null(strstr(readme.data, "\n`````\n```\n# not a heading\n````\n`````\n"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char heading[32];

		snprintf(heading, sizeof(heading), "\n## %s\n", parts[i]);
		assert_non_null(strstr(readme.data, heading));
	}
	buf_free(&readme);
	finding_free(&f);
}

/* Time that is over ends all work; the finding stays as it is. */
static void work_ends_in_time(void **state)
{
	const double over = 1e-9;
	struct finding finding, again;
	struct fixture f;
	struct err err = { 0 };
	size_t count;

	begin(&f, "reffs!truncate_zero",
	      "mkdir(\"d\", 0755)\nwrite_file(\"a\", O_CREAT|O_WRONLY, \"xyz\", 3, 0)\n"
	      "truncate(\"a\", 0)\n");
	assert_int_equal(replay(&f, &finding), 1);
	count = finding.count;
	assert_int_equal(finding_shrink(&finding, f.target, &f.model, 3000, over, &err), 0);
	assert_int_equal(finding_verify(&finding, f.target, &f.model, 10, over, &err), 0);
	assert_int_equal(finding.count, count);
	assert_int_equal(finding.tries, 1); /* the one that showed it */
	assert_false(finding.shrunk);
	assert_int_equal(judge_replay(f.target, &f.model, f.calls, f.count, true, over, &again,
				      &err),
			 -ETIME);
	err = (struct err){ 0 };
	stop_requested = SIGINT;
	assert_int_equal(finding_shrink(&finding, f.target, &f.model, 3000, 0, &err), 0);
	stop_requested = 0;
	assert_false(finding.shrunk);
	assert_int_equal(finding_shrink(&finding, f.target, &f.model, 3000, 0, &err), 0);
	assert_true(finding.shrunk);
	assert_true(finding.count < count);
	finding_free(&finding);
	end(&f);
}

/* An open that would wait for ever is not made, whatever led to the fifo. */
static void nothing_waits(void **state)
{
	struct finding finding;
	struct fixture f;

	begin(&f, "dir:/tmp", "mknod(\"f\", S_IFIFO|0600, 0)\ncreate_file(\"f\", O_WRONLY, 0)\n");
	assert_int_equal(replay(&f, &finding), 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_ones_pass),
		cmocka_unit_test(outcome_is_judged),
		cmocka_unit_test(tree_is_judged),
		cmocka_unit_test(findings_shrink),
		cmocka_unit_test(findings_are_read_back),
		cmocka_unit_test(work_ends_in_time),
		cmocka_unit_test(nothing_waits),
		cmocka_unit_test(nothing_is_invented),
		cmocka_unit_test(titles_are_bounded),
		cmocka_unit_test(data_stays_data_in_a_readme),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
