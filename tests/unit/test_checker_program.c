/* test_checker_program.c -- checkers in INI files: what is shipped, what a user adds, what codes
 * mean; each one that is installed runs on the disk that its mkfs makes. */
#include "tests/harness/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "checker/checker_program.h"
#include "checker/checker_session.h"
#include "storage/image.h"
#include "storage/program.h"

static struct err err;

static int forget_error(void **state)
{
	err = (struct err){ 0 };
	return 0;
}

static void shipped_ones_are_found(void **state)
{
	struct checker_program p;

	assert_int_equal(checker_program_find(&p, "e2fsck", NULL, &err), 0);
	assert_string_equal(p.file_system, "ext4");
	assert_string_equal(p.modes[0].name, "repair");
	assert_int_equal(p.mode_count, 1);
	assert_int_equal(checker_program_answer(&p, 0, 0, true), ANSWER_CLEAN);
	assert_int_equal(checker_program_answer(&p, 0, 1, true), ANSWER_REPAIRED);
	assert_int_equal(checker_program_answer(&p, 0, 4, true), ANSWER_LEFT);
	assert_int_equal(checker_program_answer(&p, 0, 9, true), ANSWER_FAILED);
	assert_int_equal(checker_program_answer(&p, 0, 64, true), ANSWER_UNKNOWN);
	checker_program_free(&p);
	assert_int_equal(checker_program_find(&p, "reiserfsck", NULL, &err), 0);
	assert_int_equal(p.mode_count, 3);
	assert_string_equal(p.modes[2].name, "rebuild-tree");
	assert_false(checker_program_is_partial(&p, 0));
	assert_true(checker_program_is_partial(&p, 1));
	assert_false(checker_program_is_partial(&p, 2));
	checker_program_free(&p);
}

static void codes_of_a_check_may_differ(void **state)
{
	struct checker_program p;

	assert_int_equal(checker_program_find(&p, "fsck.fat", NULL, &err), 0);
	assert_int_equal(checker_program_answer(&p, 0, 1, true), ANSWER_REPAIRED);
	assert_int_equal(checker_program_answer(&p, CHECKER_CHECK, 1, true), ANSWER_LEFT);
	/* It has two meanings (fsck.fat(8)): recoverable errors, or an internal inconsistency. */
	assert_int_equal(checker_program_answer(&p, 0, 1, false), ANSWER_LEFT);
	checker_program_free(&p);
	assert_int_equal(checker_program_find(&p, "btrfs", NULL, &err), 0);
	assert_int_equal(checker_program_answer(&p, 0, 0, true), ANSWER_CLEAN);
	assert_true(checker_program_has_code(&p, ANSWER_REPAIRED, 0));
	assert_false(checker_program_has_code(&p, ANSWER_LEFT, 0));
	checker_program_free(&p);
}

static void an_unknown_name_is_answered_by_all_names(void **state)
{
	struct checker_program p;

	assert_int_equal(checker_program_find(&p, "fsck.nothing", NULL, &err), -ENOENT);
	assert_non_null(strstr(err.text, "e2fsck"));
	assert_non_null(strstr(err.text, "xfs_repair"));
}

static int find_in(const char *text, const char *name, struct checker_program *ret)
{
	char path[] = "/tmp/assay-checkers-XXXXXX";
	struct buf file = BUF_INIT;
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	close(fd);
	buf_adds(&file, text);
	assert_int_equal(buf_write_file(&file, path, &err), 0);
	buf_free(&file);
	r = checker_program_find(ret, name, path, &err);
	unlink(path);
	return r;
}

static void a_user_adds_one(void **state)
{
	struct checker_program p;

	assert_int_equal(find_in("[checker.mine]\nbase = e2fsck\nrepair = mine -p {image}\n"
				 "repair.hard = mine -y {image}\nleft = 4-5 7\n",
				 "mine", &p),
			 0);
	assert_int_equal(p.mode_count, 2);
	assert_string_equal(checker_program_mode(&p, 0)->command, "mine -p {image}");
	assert_string_equal(checker_program_mode(&p, 1)->name, "hard");
	assert_int_equal(checker_program_answer(&p, 0, 6, true), ANSWER_UNKNOWN);
	assert_int_equal(checker_program_answer(&p, 0, 7, true), ANSWER_LEFT);
	checker_program_free(&p);
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[checker.m]\nbase = e2fsck\nclean = none\n", "exit codes" },
		{ "[checker.m]\nbase = e2fsck\nclean = 5-3\n", "exit codes" },
		{ "[checker.m]\nbase = e2fsck\nclean = 256\n", "exit codes" },
		{ "[checker.m]\nbase = e2fsck\nrepair = m\n", "{image}" },
		{ "[checker.m]\nbase = e2fsck\ncheck = m\n", "{image}" },
		{ "[checker.m]\nbase = e2fsck\nclear = 1\n", "clear" },
		{ "[checker.m]\nbase = nothing\n", "nothing" },
		{ "[checker.m]\nrepair = m {image}\nclean = 0\n", "mkfs" },
		{ "[checker.m]\nmkfs = m {image}\n", "repair" },
	};
	struct checker_program p;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		err = (struct err){ 0 };
		assert_int_equal(find_in(cases[i].text, "m", &p), -EINVAL);
		assert_non_null(strstr(err.text, cases[i].error));
	}
}

static void make_disk(const struct checker_program *p, struct image *ret)
{
	struct program_value value = { "image", PROGRAM_FD_PATH };
	struct buf command = BUF_INIT, output = BUF_INIT;
	int status;

	assert_int_equal(image_make(ret, p->disk_size, &err), 0);
	program_fill(&command, p->mkfs, &value, 1);
	if (program_run(command.data, ret->fd, 60, &status, &output, &err) || status)
		fail_msg("%s: %s%s", command.data, err.text, buf_str(&output));
	buf_free(&command);
	buf_free(&output);
}

/* It runs to its end on a fresh disk, twice, and does not complain of its own work. */
static void expect_calm(const char *name)
{
	struct checker_run run = { 0 };
	struct checker_program p;
	struct checker_session *s;
	struct image base;
	int last;

	assert_int_equal(checker_program_find(&p, name, NULL, &err), 0);
	make_disk(&p, &base);
	s = checker_session_open(&p, &base, &err);
	assert_non_null(s);
	last = (int)p.mode_count - 1;
	for (int mode = last; mode >= CHECKER_CHECK; mode--) {
		for (int i = 0; i < 2; i++) {
			if (checker_session_run(s, mode, &run, &err))
				fail_msg("%s: %s", name, err.text);
			if (getenv("ASSAY_VERBOSE"))
				fprintf(stderr, "%s %d: end %d status %d wrote %d %s %.1f ms\n%s",
					name, mode, run.end, run.status, run.wrote,
					checker_session_copies(s, mode) ? "copied" : "anew",
					run.cpu_seconds * 1e3,
					*getenv("ASSAY_VERBOSE") == '2' ? buf_str(&run.output)
									: "");
			assert_int_equal(run.end, CHECKER_EXITED);
		}
		assert_true(checker_program_answer(&p, mode, run.status, true) != ANSWER_FAILED);
		assert_true(checker_program_answer(&p, mode, run.status, true) != ANSWER_UNKNOWN);
		assert_true(checker_session_copies(s, mode));
	}
	checker_run_free(&run);
	checker_session_close(s);
	image_free(&base);
	checker_program_free(&p);
}

static void those_that_are_installed_run(void **state)
{
	struct buf names = BUF_INIT, lacking = BUF_INIT;
	struct checker_program p;

	assert_int_equal(checker_program_names(NULL, &names, &err), 0);
	for (size_t at = 0; at < names.len; at += strlen(names.data + at) + 1) {
		assert_int_equal(checker_program_find(&p, names.data + at, NULL, &err), 0);
		buf_clear(&lacking);
		checker_program_lacking(&p, &lacking);
		if (!lacking.len)
			expect_calm(p.name);
		checker_program_free(&p);
	}
	buf_free(&names);
	buf_free(&lacking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(shipped_ones_are_found, forget_error),
		cmocka_unit_test_setup(codes_of_a_check_may_differ, forget_error),
		cmocka_unit_test_setup(an_unknown_name_is_answered_by_all_names, forget_error),
		cmocka_unit_test_setup(a_user_adds_one, forget_error),
		cmocka_unit_test_setup(mistakes_are_named, forget_error),
		cmocka_unit_test_setup(those_that_are_installed_run, forget_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
