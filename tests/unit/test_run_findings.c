/* test_run_findings.c -- the lists of a run: what is confirmed, what is kept aside, and what of
 * both is there again when the run is opened a second time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "run/run.h"
#include "tests/harness/unit.h"

static char dir[64];

static int make_dir(void **state)
{
	strcpy(dir, "/tmp/assay-run-findings-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static void open_run(struct run *r)
{
	struct err err = { 0 };

	if (run_open(r, "explore", "reffs", dir, 1, &err))
		fail_msg("%s", err.text);
}

/* One call, `shown` times in as many replays and one. */
static struct finding make(enum problem code, const char *signature, unsigned shown)
{
	struct finding f;

	finding_init(&f);
	f.discrepancy.code = code;
	snprintf(f.discrepancy.signature, sizeof(f.discrepancy.signature), "%s", signature);
	buf_adds(&f.target, "reffs");
	buf_addf(&f.discrepancy.title, "title of %s", signature);
	f.shown = shown;
	f.tries = shown + 1;
	finding_reserve(&f, 1);
	f.calls[0] = (struct call){ .op = OP_sync, .pid = 1 };
	f.evidence[0] = EVIDENCE_OBSERVED;
	f.count = 1;
	return f;
}

static void add_finding(struct run *r, const struct finding *f)
{
	run_meet(r, f, NULL);
	run_update(r, f, NULL);
	run_settle(r);
}

static void add(struct run *r, enum problem code, const char *signature, unsigned shown)
{
	struct finding f = make(code, signature, shown);

	add_finding(r, &f);
	finding_free(&f);
}

static bool exists(const char *below)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, below);
	return !access(path, F_OK);
}

static json_int_t number(const json_t *list, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(list, i), key));
}

static const char *text(const json_t *list, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, i), key));
}

/* What was found in one configuration of a file system hides nothing in another. */
static void each_target_has_its_findings(void **state)
{
	struct finding f = make(PROBLEM_TREE, "TREE write data", 0);
	struct run r;

	open_run(&r);
	add(&r, PROBLEM_TREE, "TREE write data", 3);
	assert_true(run_knows(&r, &f));
	buf_clear(&f.target);
	buf_adds(&f.target, "another");
	assert_false(run_knows(&r, &f));
	assert_int_equal(number(r.findings, 0, "met"), 1);
	finding_free(&f);
	run_free(&r);
}

/* Many times the same, under whatever call it was noticed: one entry, one folder, a count. */
static void one_cause_is_one_entry(void **state)
{
	static const char *const ops[] = { "mkdir", "rename", "chmod", "mkdir", "link" };
	struct finding times = make(PROBLEM_TREE, "TREE mkdir times", 0);
	char signature[64];
	struct run r;

	open_run(&r);
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		snprintf(signature, sizeof(signature), "TREE %s times", ops[i]);
		add(&r, PROBLEM_TREE, signature, 0);
	}
	add(&r, PROBLEM_TREE, "TREE mkdir data", 0);
	assert_int_equal(json_array_size(r.findings), 0);
	assert_int_equal(json_array_size(r.unconfirmed), 2);
	/* Data before metadata. */
	assert_int_equal(number(r.unconfirmed, 0, "count"), 1);
	assert_int_equal(number(r.unconfirmed, 1, "count"), 5);
	assert_int_equal(
		json_array_size(json_object_get(json_array_get(r.unconfirmed, 1), "signatures")),
		4);
	assert_int_equal(run_attempts(&r, "TREE mkdir times"), 2);
	assert_int_equal(run_attempts(&r, "TREE link times"), 1);
	assert_false(run_knows(&r, &times));
	finding_free(&times);
	assert_int_equal(r.verdict, VERDICT_UNKNOWN);
	assert_true(exists("unconfirmed/001-TREE/trace"));
	assert_true(exists("unconfirmed/002-TREE/trace"));
	assert_false(exists("unconfirmed/003-TREE"));
	run_free(&r);
}

/* A replay that shows it takes it over to the findings, folder and all. */
static void what_a_replay_shows_is_a_finding(void **state)
{
	struct finding f = make(PROBLEM_TREE, "TREE mkdir mode", 0);
	struct run r;

	open_run(&r);
	run_meet(&r, &f, NULL);
	assert_true(exists("unconfirmed/001-TREE/README.md"));
	assert_false(exists("unconfirmed/001-TREE/repro.c"));
	f.shown = 1;
	f.discrepancy.code = PROBLEM_OUTCOME; /* and of another kind than it seemed */
	run_update(&r, &f, NULL);
	run_settle(&r);
	assert_false(exists("unconfirmed/001-TREE"));
	assert_true(exists("findings/001-OUTCOME/repro.c"));
	assert_int_equal(json_array_size(r.unconfirmed), 0);
	assert_int_equal(json_array_size(r.findings), 1);
	assert_string_equal(text(r.findings, 0, "folder"), "findings/001-OUTCOME");
	assert_null(json_object_get(json_array_get(r.findings, 0), "count"));
	assert_true(run_knows(&r, &f));
	assert_int_equal(r.verdict, VERDICT_BAD);
	finding_free(&f);
	run_free(&r);
}

/* The kernel's own log needs no replay. */
static void a_log_is_evidence(void **state)
{
	struct finding f = make(PROBLEM_KERNEL, "KERNEL BUG fs/a.c:1", 0);
	struct run r;

	f.discrepancy.in_log = true;
	open_run(&r);
	add_finding(&r, &f);
	assert_int_equal(json_array_size(r.findings), 1);
	assert_true(exists("findings/001-KERNEL/README.md"));
	finding_free(&f);
	run_free(&r);
}

static void a_run_is_opened_again(void **state)
{
	struct finding f = make(PROBLEM_TREE, "TREE mkdir mode", 0);
	struct run r;
	char path[128];

	open_run(&r);
	add(&r, PROBLEM_OUTCOME, "OUTCOME mkdir EIO for success", 3);
	add(&r, PROBLEM_DRIFT, "DRIFT times", 0);
	run_meet(&r, &f, NULL); /* killed now, before run.json was written again */
	finding_free(&f);
	run_free(&r);
	open_run(&r);
	assert_int_equal(json_array_size(r.findings), 1);
	assert_int_equal(json_array_size(r.unconfirmed), 2);
	assert_int_equal(run_attempts(&r, "DRIFT times"), 1);
	assert_int_equal(r.verdict, VERDICT_BAD);
	run_free(&r);
	snprintf(path, sizeof(path), "%s/run.json", dir);
	assert_int_equal(unlink(path), 0);
	open_run(&r);
	assert_int_equal(json_array_size(r.findings), 1);
	assert_int_equal(json_array_size(r.unconfirmed), 2);
	assert_string_equal(text(r.findings, 0, "signature"), "OUTCOME mkdir EIO for success");
	run_free(&r);
}

static json_t *others(const json_t *list, size_t i)
{
	return json_object_get(json_array_get(list, i), "others");
}

/* One of `calls` calls, found and settled. */
static void add_long(struct run *r, enum problem code, const char *signature, size_t calls)
{
	struct finding f = make(code, signature, 1);

	finding_reserve(&f, calls);
	for (f.count = 0; f.count < calls; f.count++) {
		f.calls[f.count] = (struct call){ .op = OP_sync, .pid = 1 };
		f.evidence[f.count] = EVIDENCE_OBSERVED;
	}
	add_finding(r, &f);
	finding_free(&f);
}

/* A program that shows nothing is no reproducer: another finding stands for the group. */
static void what_its_program_shows_is_better(void **state)
{
	struct finding doubted = make(PROBLEM_TREE, "TREE mkdir nlink (too small, directory)", 1);
	struct finding again = make(PROBLEM_TREE, "TREE rmdir nlink (too small, directory)", 0);
	struct run r;

	open_run(&r);
	doubted.proof.end = PROOF_ABSENT;
	add_finding(&r, &doubted);
	assert_int_equal(run_group_calls(&r, &again), UINT64_MAX);
	add_long(&r, PROBLEM_TREE, "TREE rename nlink (too small, directory)", 3);
	assert_int_equal(json_array_size(r.findings), 1);
	assert_string_equal(text(r.findings, 0, "signature"),
			    "TREE rename nlink (too small, directory)");
	assert_int_equal(run_group_calls(&r, &again), 3);
	finding_free(&doubted);
	finding_free(&again);
	run_free(&r);
}

/* The simplest stands for its group, whichever came first; the worst is first. */
static void one_cause_is_one_finding(void **state)
{
	struct finding again = make(PROBLEM_TREE, "TREE rmdir nlink (too small, directory)", 0);
	struct err err = { 0 };
	struct run r;

	open_run(&r);
	add_long(&r, PROBLEM_TREE, "TREE mkdir nlink (too small, directory)", 5);
	add_long(&r, PROBLEM_TREE, "TREE write data (zeros)", 9);
	add_long(&r, PROBLEM_TREE, "TREE rename nlink (too small, directory)", 3);
	assert_int_equal(run_group_calls(&r, &again), 3);
	assert_true(run_join(&r, &again, NULL));
	assert_true(run_knows(&r, &again));
	assert_int_equal(run_close(&r, &err), 0);
	for (int part = 0; part < 2; part++) { /* also when it is opened again */
		json_decref(run_summary(&r));
		assert_int_equal(json_array_size(r.findings), 2);
		assert_string_equal(text(r.findings, 0, "severity"), "data");
		assert_string_equal(text(r.findings, 1, "signature"),
				    "TREE rename nlink (too small, directory)");
		assert_string_equal(text(r.findings, 1, "group"),
				    "nlink of directories, too small");
		assert_int_equal(json_array_size(others(r.findings, 1)), 2);
		assert_string_equal(text(others(r.findings, 1), 0, "signature"),
				    "TREE mkdir nlink (too small, directory)");
		assert_int_equal(number(others(r.findings, 1), 0, "count"), 1);
		assert_int_equal(number(others(r.findings, 1), 1, "count"), 2);
		assert_true(exists("findings/003-TREE/others/001-TREE/repro.c"));
		assert_true(exists("findings/003-TREE/others/002-TREE/trace"));
		assert_false(exists("findings/001-TREE"));
		run_free(&r);
		open_run(&r);
	}
	assert_false(run_group_calls(&r, &again) == 0);
	finding_free(&again);
	run_free(&r);
}

/* What is not confirmed is no matter of its own where its cause is a finding. */
static void doubt_joins_its_cause(void **state)
{
	struct run r;

	open_run(&r);
	add(&r, PROBLEM_TREE, "TREE mkdir mode (directory)", 1);
	add(&r, PROBLEM_TREE, "TREE chmod mode (directory)", 0);
	assert_int_equal(json_array_size(r.unconfirmed), 0);
	assert_int_equal(json_array_size(others(r.findings, 0)), 1);
	assert_true(exists("findings/001-TREE/others/001-TREE/trace"));
	run_free(&r);
}

/* What one job has confirmed is not doubtful because another could not; folders lie below. */
static void runs_are_merged(void **state)
{
	struct run r, all;
	json_t *with, *without;
	char path[128];

	open_run(&r);
	add(&r, PROBLEM_TREE, "TREE mkdir mode", 1);
	add(&r, PROBLEM_DRIFT, "DRIFT times", 0);
	with = run_summary(&r);
	run_free(&r);
	remove_dir(NULL);
	assert_int_equal(mkdir(dir, 0755), 0);
	open_run(&r);
	add(&r, PROBLEM_TREE, "TREE mkdir mode", 0);
	add(&r, PROBLEM_DRIFT, "DRIFT times", 0);
	add(&r, PROBLEM_DRIFT, "DRIFT times", 0);
	without = run_summary(&r);
	run_free(&r);
	snprintf(path, sizeof(path), "%s/all", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	strcat(dir, "/all");
	open_run(&all);
	run_merge(&all, without, "job-0");
	run_merge(&all, with, "job-1");
	run_merge(&all, with, "job-2");
	assert_int_equal(json_array_size(all.findings), 1);
	assert_string_equal(text(all.findings, 0, "folder"), "job-1/findings/001-TREE");
	assert_int_equal(json_array_size(all.unconfirmed), 1);
	assert_string_equal(text(all.unconfirmed, 0, "folder"), "job-0/unconfirmed/002-DRIFT");
	assert_int_equal(number(all.unconfirmed, 0, "count"), 4);
	assert_int_equal(all.verdict, VERDICT_BAD);
	json_decref(with);
	json_decref(without);
	run_free(&all);
	*strrchr(dir, '/') = '\0';
}

/* What a run writes, the next one knows; and what has been known stays so. */
static void known_failures_are_written(void **state)
{
	struct finding f = make(PROBLEM_TREE, "TREE rmdir nlink (too small, directory)", 0);
	struct buf failures = BUF_INIT, content = BUF_INIT;
	struct err err = { 0 };
	char path[128], whole[128];
	struct run r;

	snprintf(path, sizeof(path), "%s/known", dir);
	snprintf(whole, sizeof(whole), "%s/whole", dir);
	buf_adds(&content, "# because: old\n# until: 2999-01-01\nreffs: SPACE blocks\n"
			   "# because: over\n# until: 2000-01-01\nreffs: SPACE inodes\n");
	assert_int_equal(buf_write_file(&content, path, &err), 0);
	open_run(&r);
	assert_int_equal(run_read_known(&r, path, &err), 0);
	add(&r, PROBLEM_TREE, "TREE mkdir nlink (too small, directory)", 1);
	run_print_failures(&r, &failures);
	assert_int_equal(run_write_known(&r, whole, &failures, &err), 0);
	run_free(&r);
	buf_clear(&content);
	assert_int_equal(buf_read_file(&content, whole, 1 << 16, &err), 0);
	assert_int_equal(strncmp(content.data,
				 "# because: old\n# until: 2999-01-01\nreffs: SPACE blocks\n"
				 "# because: found by the run of ",
				 80),
			 0);
	assert_null(strstr(content.data, "inodes"));
	open_run(&r);
	assert_int_equal(run_read_known(&r, whole, &err), 0);
	assert_int_equal(r.known.count, 2);
	assert_true(run_knows(&r, &f)); /* by its group */
	known_ask(&r.known, "reffs", KNOWN_SIGNATURES | KNOWN_GROUPS, false);
	assert_int_equal(known_state(&r.known.rows[0]), KNOWN_NOT_SEEN);
	assert_int_equal(known_state(&r.known.rows[1]), KNOWN_SEEN);
	run_free(&r);
	buf_free(&content);
	buf_free(&failures);
	finding_free(&f);
}

/* A run.json that is none gets a clear answer. */
static void a_foreign_list_is_refused(void **state)
{
	static const char *const texts[] = { "{", "[]", "{\"findings\": 3}",
					     "{\"findings\": [{\"title\": \"x\"}]}",
					     "{\"unconfirmed\": [7]}" };
	struct buf content = BUF_INIT;
	char path[128];
	struct run r;

	snprintf(path, sizeof(path), "%s/run.json", dir);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct err err = { 0 };

		buf_clear(&content);
		buf_adds(&content, texts[i]);
		assert_int_equal(buf_write_file(&content, path, &err), 0);
		assert_int_equal(run_open(&r, "explore", "reffs", dir, 1, &err), -EINVAL);
		assert_non_null(strstr(err.text, "run.json: "));
	}
	buf_free(&content);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

/* What people write into a trace is in the README that is made from it. */
static void remarks_are_kept(void **state)
{
	struct finding f = make(PROBLEM_TREE, "TREE mkdir mode", 1), again;
	struct buf readme = BUF_INIT;
	struct err err = { 0 };

	finding_print_readme(&f, NULL, &readme);
	assert_non_null(strstr(readme.data, "- Upstream status: unknown\n"));
	assert_non_null(strstr(readme.data, "- Suspected function: unknown\n"));
	assert_null(strstr(readme.data, "Seen on"));
	buf_adds(&f.upstream, "fixed by 0123abc");
	buf_adds(&f.seen_on, "Linux 6.1.0; Linux 6.12.5");
	assert_int_equal(finding_write(&f, NULL, dir, &err), 0);
	assert_int_equal(finding_read(&again, dir, &err), 0);
	buf_clear(&readme);
	finding_print_readme(&again, NULL, &readme);
	assert_non_null(strstr(readme.data, "- Upstream status: `fixed by 0123abc`\n"));
	assert_non_null(strstr(readme.data, "- Seen on: `Linux 6.1.0; Linux 6.12.5`\n"));
	assert_non_null(strstr(readme.data, "Severity: metadata (metadata is wrong)."));
	buf_free(&readme);
	finding_free(&again);
	finding_free(&f);
}

/* A read of kilobytes does not fill the page; the trace has all of it. */
static void long_outcomes_are_cut_in_the_readme_only(void **state)
{
	static char bytes[4096];
	struct finding f = make(PROBLEM_TREE, "TREE read data", 1), again;
	struct buf readme = BUF_INIT;
	struct err err = { 0 };

	memset(bytes, 1, sizeof(bytes));
	f.calls[0] = (struct call){ .op = OP_read, .pid = 1 };
	f.outcomes[0] =
		(struct outcome){ .result = RESULT_BYTES, .bytes = bytes, .len = sizeof(bytes) };
	finding_print_readme(&f, NULL, &readme);
	assert_non_null(strstr(readme.data, "... (16"));
	assert_non_null(strstr(readme.data, "the file `trace` has all of each"));
	assert_true(readme.len < sizeof(bytes));
	assert_int_equal(finding_write(&f, NULL, dir, &err), 0);
	assert_int_equal(finding_read(&again, dir, &err), 0);
	assert_int_equal(again.outcomes[0].len, sizeof(bytes));
	buf_free(&readme);
	finding_free(&again);
	finding_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(one_cause_is_one_entry),
		IN_DIR(each_target_has_its_findings),
		IN_DIR(what_a_replay_shows_is_a_finding),
		IN_DIR(a_log_is_evidence),
		IN_DIR(a_run_is_opened_again),
		IN_DIR(runs_are_merged),
		IN_DIR(a_foreign_list_is_refused),
		IN_DIR(remarks_are_kept),
		IN_DIR(what_its_program_shows_is_better),
		IN_DIR(one_cause_is_one_finding),
		IN_DIR(doubt_joins_its_cause),
		IN_DIR(known_failures_are_written),
		IN_DIR(long_outcomes_are_cut_in_the_readme_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
