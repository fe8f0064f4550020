/* test_fsck_loss.c -- what a repair has lost, and what two runs may say. */
#include "base/buf.h"
#include "fsck/loss.h"
#include "fsck/pairs.h"
#include "tests/harness/fsck_map.h"

static const char before_text[] = "/a\tone\n/d/b\ttwo\n/d/c\ttwo\n\n/e\n";

/* How many are lost, where this field was damaged (NULL: bytes of nothing). */
static uint64_t losses(const char *after_text, const char *field, uint64_t *ret_touched,
		       struct buf *out)
{
	static const uint8_t disk[SMALL_DISK], value[] = { 1 };
	struct contents before = { 0 }, after = { 0 };
	struct corruption c = { 0 };
	struct own_map m;
	uint64_t lost;

	small_map(&m, field ? field : "");
	if (field)
		corruption_add_field(&c, disk, m.map.instances, m.map.instances->structure->fields,
				     value);
	else
		corruption_add_bytes(&c, disk, 0, value, 1);
	contents_add_lines(&before, before_text);
	contents_add_lines(&after, after_text);
	assert_int_equal(before.count, 4);
	lost = loss_count(&before, &after, &c, ret_touched, out);
	contents_free(&before);
	contents_free(&after);
	own_map_free(&m);
	return lost;
}

static void a_content_may_have_another_name(void **state)
{
	struct buf out = BUF_INIT;
	uint64_t touched;

	assert_int_equal(losses(before_text, NULL, &touched, &out), 0);
	assert_int_equal(losses("/lost+found/1\ttwo\n/x\ttwo\n/e\n/a\tone\n/f\tmore\n", NULL,
				&touched, &out),
			 0);
	assert_int_equal(touched, 0);
	assert_int_equal(out.len, 0);
	buf_free(&out);
}

static void every_copy_counts(void **state)
{
	struct buf out = BUF_INIT;
	uint64_t touched;

	assert_int_equal(losses("/a\tone\n/d/b\ttwo\n/e\n", NULL, &touched, &out), 1);
	assert_string_equal(buf_str(&out), "/d/c\n");
	buf_clear(&out);
	assert_int_equal(losses("/a\tone\n/d/c\ttwo\n/e\n", NULL, &touched, &out), 1);
	assert_string_equal(buf_str(&out), "/d/b\n");
	buf_free(&out);
}

/* A file that took the place of one with the same content is another one. */
static void a_new_file_was_not_there_before(void **state)
{
	struct contents before = { 0 }, now = { 0 }, unmoved = { 0 };

	contents_add_lines(&before, "/same\tone\n/changed\ttwo\n/gone\tthree\n");
	contents_add_lines(&now, "/same\tone\n/changed\tfour\n/new\tthree\n");
	contents_unmoved(&unmoved, &now, &before);
	assert_int_equal(unmoved.count, 1);
	assert_string_equal(unmoved.items[0].names_nul, "/same");
	contents_free(&unmoved);
	contents_free(&before);
	contents_free(&now);
}

/* Of two files with one content, of which one can be read, one is not lost. */
static void what_is_there_once_is_common_once(void **state)
{
	struct contents before = { 0 }, readable = { 0 }, common = { 0 };

	contents_add_lines(&before, "/d/b\ttwo\n/d/c\ttwo\n/e\tthree\n");
	contents_add_lines(&readable, "/d/c\ttwo\n/moved\tthree\n");
	contents_common(&common, &before, &readable);
	assert_int_equal(common.count, 2);
	assert_string_equal(common.items[0].names_nul, "/d/c");
	assert_string_equal(common.items[1].names_nul, "/e");
	contents_free(&common);
	contents_free(&before);
	contents_free(&readable);
}

/* The file that was damaged may be lost, and what is below a damaged directory. */
static void what_was_damaged_may_be_lost(void **state)
{
	struct buf out = BUF_INIT;
	uint64_t touched;

	assert_int_equal(losses("/e\n", "file.size 0 1 number file 1, /d", &touched, &out), 1);
	assert_int_equal(touched, 2);
	assert_string_equal(buf_str(&out), "/a\n");
	buf_clear(&out);
	assert_int_equal(losses("/a\tone\n/d/b\ttwo\n", "file.size 0 1 number file 3, /e, first",
				&touched, &out),
			 1);
	assert_int_equal(touched, 1);
	assert_string_equal(buf_str(&out), "/d/c\n");
	buf_clear(&out);
	/* One of two with the same content: the damaged one is missing, whichever comes first. */
	assert_int_equal(losses("/a\tone\n/d/c\ttwo\n/e\n", "file.size 0 1 number file 1, /d/b",
				&touched, &out),
			 0);
	assert_int_equal(touched, 1);
	assert_int_equal(losses("/a\tone\n/d/b\ttwo\n/e\n", "file.size 0 1 number file 1, /d/c",
				&touched, &out),
			 0);
	assert_int_equal(touched, 1);
	/* The end of a path that is too long for a label. */
	assert_int_equal(losses("/a\tone\n/d/c\ttwo\n/e\n", "file.size 0 1 number file 1, .../b, x",
				&touched, &out),
			 0);
	assert_int_equal(losses("", "super.size 0 1 number backup", &touched, &out), 4);
	assert_int_equal(touched, 0);
	buf_free(&out);
}

static void answers_fit_together(void **state)
{
	assert_null(pair_problem(ANSWER_CLEAN, ANSWER_CLEAN));
	assert_null(pair_problem(ANSWER_REPAIRED, ANSWER_CLEAN));
	assert_null(pair_problem(ANSWER_LEFT, ANSWER_LEFT));
	assert_null(pair_problem(ANSWER_FAILED, ANSWER_FAILED));
	assert_non_null(pair_problem(ANSWER_CLEAN, ANSWER_REPAIRED));
	assert_non_null(pair_problem(ANSWER_CLEAN, ANSWER_LEFT));
	assert_non_null(pair_problem(ANSWER_REPAIRED, ANSWER_REPAIRED));
	assert_non_null(pair_problem(ANSWER_REPAIRED, ANSWER_FAILED));
	assert_non_null(pair_problem(ANSWER_LEFT, ANSWER_CLEAN));
	assert_non_null(pair_problem(ANSWER_FAILED, ANSWER_REPAIRED));
	assert_null(pair_check_problem(ANSWER_LEFT, ANSWER_REPAIRED));
	assert_null(pair_check_problem(ANSWER_CLEAN, ANSWER_CLEAN));
	assert_null(pair_check_problem(ANSWER_FAILED, ANSWER_REPAIRED));
	assert_non_null(pair_check_problem(ANSWER_CLEAN, ANSWER_REPAIRED));
	assert_non_null(pair_check_problem(ANSWER_CLEAN, ANSWER_LEFT));
	assert_non_null(pair_check_problem(ANSWER_LEFT, ANSWER_CLEAN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_content_may_have_another_name),
		cmocka_unit_test(every_copy_counts),
		cmocka_unit_test(a_new_file_was_not_there_before),
		cmocka_unit_test(what_is_there_once_is_common_once),
		cmocka_unit_test(what_was_damaged_may_be_lost),
		cmocka_unit_test(answers_fit_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
