/* test_session.c -- scripts on a target: which call is blamed, what is undone between scripts, and
 * how deviations are gathered by cause and expected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/must.h"
#include "conform/cause.h"
#include "conform/session.h"
#include "tests/harness/unit.h"

struct fixture {
	struct suite suite;
	struct session *session;
	struct deviation deviation;
};

static void add_script(struct suite *suite, const char *name, const char *text)
{
	struct err err = { 0 };

	if (suite_add_file(suite, name, text, strlen(text), &err))
		fail_msg("%s", err.text);
}

static void begin(struct fixture *f)
{
	struct err err = { 0 };

	*f = (struct fixture){ 0 };
	if (suite_open(&f->suite, NULL, &err))
		fail_msg("%s", err.text);
}

static void open_on(struct fixture *f, const char *target)
{
	struct session_options options = { .target = target,
					   .platform = PLATFORM_LINUX,
					   .kernel = KERNEL_CURRENT };
	struct err err = { 0 };

	if (session_open(&f->session, &f->suite, &options, &err))
		fail_msg("%s", err.text);
}

static enum script_fate run(struct fixture *f, size_t number)
{
	struct err err = { 0 };
	enum script_fate fate;

	if (session_run(f->session, number, &fate, &f->deviation, &err))
		fail_msg("%s", err.text);
	return fate;
}

static void end(struct fixture *f)
{
	session_close(f->session);
	deviation_free(&f->deviation);
	suite_free(&f->suite);
}

/* The outcome of each call is right; the tree is wrong from the third one on. */
static void the_call_that_spoils_the_tree_is_blamed(void **state)
{
	struct fixture f;

	begin(&f);
	add_script(&f.suite, "spoilt",
		   "mkdir(\"a\", 0755)\nopen(\"f\", O_CREAT|O_RDWR, 0644)\nclose(3)\n"
		   "link(\"f\", \"g\")\nunlink(\"g\")\nmkdir(\"b\", 0755)\nrmdir(\"b\")\n");
	open_on(&f, "reffs!unlink_nlink");
	assert_int_equal(run(&f, 0), SCRIPT_REJECTED);
	assert_int_equal(f.deviation.code, PROBLEM_TREE);
	assert_int_equal(f.deviation.op, OP_unlink);
	assert_int_equal(f.deviation.step, 4);
	assert_string_equal(f.deviation.call.data, "unlink(\"g\")");
	end(&f);
}

static void an_outcome_is_blamed_where_it_is(void **state)
{
	struct fixture f;

	begin(&f);
	add_script(&f.suite, "outcome", "mkdir(\"a\", 0755)\nmkdir(\"a\", 0755)\nrmdir(\"a\")\n");
	open_on(&f, "reffs!mkdir_enoent");
	assert_int_equal(run(&f, 0), SCRIPT_REJECTED);
	assert_int_equal(f.deviation.code, PROBLEM_OUTCOME);
	assert_int_equal(f.deviation.step, 1);
	assert_string_equal(f.deviation.seen.data, "ENOENT");
	assert_string_equal(f.deviation.allowed.data, "EEXIST");
	assert_string_equal(f.deviation.rule.data, "name_exists");
	assert_true(f.deviation.outside_posix);
	end(&f);
}

/* A script that went wrong spoils nothing for the next one. */
static void scripts_do_not_disturb_each_other(void **state)
{
	static const char *const target[] = { "reffs", "reffs!unlink_nlink" };
	static const enum script_fate spoilt[] = { SCRIPT_ACCEPTED, SCRIPT_REJECTED };

	for (unsigned i = 0; i < 2; i++) {
		struct fixture f;

		begin(&f);
		add_script(
			&f.suite, "spoils",
			"open(\"f\", O_CREAT|O_RDWR, 0644)\nlink(\"f\", \"g\")\nunlink(\"g\")\n");
		add_script(&f.suite, "makes", "mkdir(\"d\", 0755)\nmkdir(\"d/e\", 0755)\n");
		add_script(&f.suite, "opens", "open(\"f\", O_CREAT|O_EXCL|O_RDWR, 0644)\n");
		open_on(&f, target[i]);
		for (unsigned round = 0; round < 40; round++) {
			assert_int_equal(run(&f, 0), spoilt[i]);
			assert_int_equal(run(&f, 1), SCRIPT_ACCEPTED);
			assert_int_equal(run(&f, 2), SCRIPT_ACCEPTED);
		}
		/* What went right is undone by calls; what went wrong, by emptying. */
		if (i)
			assert_true(session_figures(f.session)->resets >= 40);
		else
			assert_true(session_figures(f.session)->resets <= 2);
		end(&f);
	}
}

static void a_setup_that_nobody_changed_stays(void **state)
{
	struct fixture f;

	begin(&f);
	add_script(&f.suite, "one", "stat(\"/\")\n");
	add_script(&f.suite, "two", "rmdir(\"none\")\n");
	open_on(&f, "reffs");
	for (unsigned round = 0; round < 10; round++)
		for (size_t i = 0; i < 2; i++)
			assert_int_equal(run(&f, i), SCRIPT_ACCEPTED);
	assert_true(session_figures(f.session)->reused >= 19);
	end(&f);
}

static void what_a_target_cannot_do_is_skipped(void **state)
{
	struct fixture f;

	begin(&f);
	add_script(&f.suite, "any", "stat(\"/\")\n");
	f.suite.scripts[0].needs = 1u << 30;
	open_on(&f, "reffs");
	assert_int_equal(run(&f, 0), SCRIPT_SKIPPED);
	end(&f);
}

/* Three deviations of two causes; the shorter script is the example. */
static void make_result(struct conform_result *r, struct suite *suite)
{
	static const struct {
		const char *seen, *allowed;
		uint32_t script;
		bool outside_posix;
	} rows[] = {
		{ "EIO", "success", 0, true },
		{ "EPERM", "EACCES", 1, false },
		{ "EIO", "success", 1, false },
	};

	*r = (struct conform_result){ .suite = suite };
	r->deviations = calloc(3, sizeof(*r->deviations));
	for (r->deviation_count = 0; r->deviation_count < 3; r->deviation_count++) {
		struct deviation *d = &r->deviations[r->deviation_count];

		d->script = rows[r->deviation_count].script;
		d->op = OP_mkdir;
		d->outside_posix = rows[r->deviation_count].outside_posix;
		buf_adds(&d->seen, rows[r->deviation_count].seen);
		buf_adds(&d->allowed, rows[r->deviation_count].allowed);
		buf_adds(&d->call, "mkdir");
	}
}

static void deviations_are_gathered_by_cause(void **state)
{
	struct conform_result result;
	struct causes causes;
	struct fixture f;

	begin(&f);
	add_script(&f.suite, "long", "mkdir(\"a\", 0755)\nmkdir(\"b\", 0755)\n");
	add_script(&f.suite, "short", "mkdir(\"a\", 0755)\n");
	make_result(&result, &f.suite);
	causes_gather(&causes, &result);
	assert_int_equal(causes.count, 2);
	assert_int_equal(causes.unexpected, 2);
	assert_string_equal(causes.items[0].text, "mkdir: EIO, allowed: success");
	assert_true(causes.items[0].outside_posix);
	assert_int_equal(causes.items[0].scripts, 2);
	assert_int_equal(causes.items[0].example->script, 1);
	assert_int_equal(causes.of[0], 0);
	assert_int_equal(causes.of[1], 1);
	assert_int_equal(causes.of[2], 0);
	assert_ptr_equal(causes_find(&causes, "mkdir: EPERM, allowed: EACCES"), &causes.items[1]);
	assert_null(causes_find(&causes, "mkdir"));
	causes_free(&causes);
	conform_result_free(&result);
	end(&f);
}

static int read_known(struct known *known, const char *text, struct err *err)
{
	char path[] = "/tmp/assay-test.XXXXXX";
	int fd = mkstemp(path), r;

	*err = (struct err){ 0 };
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	r = known_read(known, path, "2026-06-01", err);
	unlink(path);
	return r;
}

static void known_failures_are_marked(void **state)
{
	static const char text[] = "# because: of the weather\n"
				   "# a remark\n\n"
				   "kernel:ext4: mkdir: EIO, allowed: success\n"
				   "*: mkdir: EPERM, allowed: EACCES\n";
	struct conform_result result;
	struct causes causes;
	struct known known;
	struct fixture f;
	struct err err;

	begin(&f);
	add_script(&f.suite, "a", "mkdir(\"a\", 0755)\n");
	add_script(&f.suite, "b", "mkdir(\"a\", 0755)\n");
	make_result(&result, &f.suite);
	assert_int_equal(read_known(&known, text, &err), 0);
	causes_gather(&causes, &result);
	causes_mark_known(&causes, &known, "xfs");
	assert_int_equal(causes.unexpected, 1);
	assert_null(causes.items[0].reason);
	assert_string_equal(causes.items[1].reason, "of the weather");
	assert_int_equal(known.rows[0].seen, 0);
	assert_int_equal(known.rows[1].seen, causes.items[1].scripts);
	causes_free(&causes);
	causes_gather(&causes, &result);
	causes_mark_known(&causes, &known, "kernel:ext4");
	assert_int_equal(causes.unexpected, 0);
	causes_free(&causes);
	known_free(&known);
	conform_result_free(&result);
	end(&f);
}

static void patterns_name_failures(void **state)
{
	struct known known;
	struct err err;

	assert_int_equal(read_known(&known,
				    "# because: of the weather\n"
				    "*: mkdir: E*, allowed: success\nxfs: TREE * nlink\n",
				    &err),
			 0);
	assert_non_null(known_find(&known, "xfs", "mkdir: EIO, allowed: success"));
	assert_null(known_find(&known, "xfs", "mkdir: EIO"));
	assert_non_null(known_find(&known, "xfs", "TREE rename nlink"));
	assert_null(known_find(&known, "ext4", "TREE rename nlink"));
	known_free(&known);
}

/* Up to the day that is named, and that day, too; the next reason begins anew. */
static void known_failures_end(void **state)
{
	static const char text[] = "# because: a\n# until: 2026-05-31\nxfs: one\n*: two\n"
				   "# because: b\n# until: 2026-06-01\nxfs: three\n"
				   "# because: c\nfuse:a: b {mount}: four\n";
	struct known known;
	struct err err;

	assert_int_equal(read_known(&known, text, &err), 0);
	assert_null(known_find(&known, "xfs", "one"));
	assert_null(known_find(&known, "xfs", "two"));
	assert_string_equal(known_find(&known, "xfs", "three")->reason, "b");
	assert_null(known_find(&known, "ext4", "three"));
	assert_string_equal(known_find(&known, "fuse:a: b {mount}", "four")->reason, "c");
	known_free(&known);
}

/* What became of each known failure; one whose day has passed is counted and does not hold. */
static void known_failures_have_a_state(void **state)
{
	static const char text[] = "# because: a\n# until: 2026-05-31\nxfs: link not supported\n"
				   "# because: b\nxfs: mkdir: EIO, allowed: success\n"
				   "xfs: after link: wrong tree (mode)\next4: mode of files\n"
				   "*: race of open: wrong tree (mode)\nxfs: TREE rename nlink\n";
	static const enum known_state wanted[] = {
		KNOWN_EXPIRED,   KNOWN_SEEN,      KNOWN_FIXED,
		KNOWN_NOT_ASKED, KNOWN_NOT_ASKED, KNOWN_NOT_ASKED
	};
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	struct known known;

	assert_int_equal(read_known(&known, text, &err), 0);
	assert_null(known_meet(&known, "xfs", "link: EPERM, allowed: success", "link not supported",
			       3));
	assert_non_null(known_meet(&known, "xfs", "mkdir: EIO, allowed: success", "", 1));
	known_ask(&known, "xfs", KNOWN_CAUSES | KNOWN_GROUPS, true);
	for (size_t i = 0; i < known.count; i++)
		assert_int_equal(known_state(&known.rows[i]), wanted[i]);
	known_report(&known, &out);
	assert_string_equal(out.data,
			    "known until 2026-05-31: expired and seen: link not supported (a)\n"
			    "known: mkdir: EIO, allowed: success (b), 1 times\n"
			    "known, fixed? after link: wrong tree (mode) (b)\n");
	known_ask(&known, "xfs", KNOWN_CAUSES, false); /* another target, in part */
	assert_int_equal(known_state(&known.rows[2]), KNOWN_NOT_SEEN);
	buf_free(&out);
	known_free(&known);
}

static void mistakes_in_known_failures_are_refused(void **state)
{
	static const struct {
		const char *text, *problem;
	} rows[] = {
		{ "xfs: mkdir: EIO\n", ":1: expected \"TARGET: FAILURE\" below a line" },
		{ "# because: so\nxfs\n", ":2: expected \"TARGET: FAILURE\"" },
		{ "# until: 2026-01-01\n", ":1: expected \"# until: YYYY-MM-DD\" below a line" },
		{ "# because: so\n# until: soon\n", ":2: expected \"# until: YYYY-MM-DD\"" },
		{ "[TREE rename nlink]\nreason = x\n", "and below it \"*: TREE rename nlink\"" },
	};
	struct known known;
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_true(read_known(&known, rows[i].text, &err) < 0);
		assert_non_null(strstr(err.text, rows[i].problem));
		assert_null(known.rows);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_call_that_spoils_the_tree_is_blamed),
		cmocka_unit_test(an_outcome_is_blamed_where_it_is),
		cmocka_unit_test(scripts_do_not_disturb_each_other),
		cmocka_unit_test(a_setup_that_nobody_changed_stays),
		cmocka_unit_test(what_a_target_cannot_do_is_skipped),
		cmocka_unit_test(deviations_are_gathered_by_cause),
		cmocka_unit_test(known_failures_are_marked),
		cmocka_unit_test(patterns_name_failures),
		cmocka_unit_test(known_failures_end),
		cmocka_unit_test(known_failures_have_a_state),
		cmocka_unit_test(mistakes_in_known_failures_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
