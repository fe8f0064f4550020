/* test_ini.c -- INI files: order, lines, continuation, and errors that say where. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "settings/ini.h"
#include "tests/harness/unit.h"

static void assert_row(const struct ini *ini, size_t i, const char *section, const char *key,
		       const char *value, int line)
{
	assert_true(i < ini->count);
	assert_string_equal(ini->rows[i].section, section);
	assert_string_equal(ini->rows[i].key, key);
	assert_string_equal(ini->rows[i].value, value);
	assert_int_equal(ini->rows[i].line, line);
}

static void rows_are_in_order_with_their_lines(void **state)
{
	struct err err = { 0 };
	struct ini ini;

	assert_int_equal(ini_read_text(&ini, "t",
				       "top = 1\n# comment\n\n[a]\nx = 1 ; why\ny: two words  \n"
				       "[b]\nx =\n[a]\nx = 2",
				       &err),
			 0);
	assert_int_equal(ini.count, 5);
	assert_row(&ini, 0, "", "top", "1", 1);
	assert_row(&ini, 1, "a", "x", "1", 5);
	assert_row(&ini, 2, "a", "y", "two words", 6);
	assert_row(&ini, 3, "b", "x", "", 8);
	assert_row(&ini, 4, "a", "x", "2", 10);
	assert_string_equal(ini_get(&ini, "a", "x"), "2");
	assert_string_equal(ini_get(&ini, "b", "x"), "");
	assert_null(ini_get(&ini, "b", "y"));
	assert_null(ini_get(&ini, "c", "x"));
	ini_free(&ini);
}

static void indented_lines_continue_a_value(void **state)
{
	struct ini ini;

	assert_int_equal(ini_read_text(&ini, "t",
				       "[a]\nx = 1\n  2\n\t[3]\nx = 4\n[a]\n  x = 5\n  6\n", NULL),
			 0);
	assert_int_equal(ini.count, 3);
	assert_row(&ini, 0, "a", "x", "1\n2\n[3]", 2);
	assert_row(&ini, 1, "a", "x", "4", 5);
	assert_row(&ini, 2, "a", "x", "5\n6", 7);
	ini_free(&ini);
}

static void comments_of_rows(void **state)
{
	struct ini ini;

	assert_int_equal(ini_read_text(&ini, "t", "a = 1 ;  why so \nb = 2;3\nc = 4 ;\n", NULL), 0);
	assert_int_equal(ini.count, 3);
	assert_string_equal(ini.rows[0].comment, "why so");
	assert_null(ini.rows[1].comment);
	assert_string_equal(ini.rows[1].value, "2;3");
	assert_string_equal(ini.rows[2].comment, "");
	ini_free(&ini);
}

static void empty_text_has_no_rows(void **state)
{
	struct ini ini;

	assert_int_equal(ini_read_text(&ini, "t", "", NULL), 0);
	assert_int_equal(ini.count, 0);
	assert_string_equal(ini.path, "t");
	ini_free(&ini);
}

static void errors_name_the_line(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "[a]\nx = 1\nnonsense\n", "t:3: neither [section] nor key = value" },
		{ "[a\n", "t:1: neither [section] nor key = value" },
		{ "\n= 1\n", "t:2: a key has no name" },
	};
	struct ini ini;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = { 0 };

		assert_int_equal(ini_read_text(&ini, "t", cases[i].text, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].error);
		assert_null(ini.rows);
		assert_null(ini.path);
	}
}

static void nothing_is_cut_silently(void **state)
{
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct ini ini;

	buf_addf(&text, "x = 1\ny = %0*d\n", 500, 0);
	assert_int_equal(ini_read_text(&ini, "t", text.data, &err), -EINVAL);
	assert_non_null(strstr(err.text, "t:2: the line is longer than"));
	buf_clear(&text);
	err = (struct err){ 0 };
	buf_addf(&text, "[%0*d]\nx = 1\n", 60, 0);
	assert_int_equal(ini_read_text(&ini, "t", text.data, &err), -EINVAL);
	assert_string_equal(err.text, "t:1: the section's name is longer than 48 bytes");
	buf_clear(&text);
	buf_addf(&text, "[%0*d]\nx = 1\n", 48, 0);
	assert_int_equal(ini_read_text(&ini, "t", text.data, NULL), 0);
	assert_int_equal(strlen(ini.rows[0].section), 48);
	ini_free(&ini);
	buf_free(&text);
}

static void files_and_their_errors(void **state)
{
	const char *work = getenv("WORK");
	struct buf text = BUF_INIT, path = BUF_INIT;
	struct err err = { 0 };
	struct ini ini;

	buf_addf(&path, "%s/test.ini", work ? work : "/tmp");
	buf_adds(&text, "[a]\nx = 1\n");
	assert_int_equal(buf_write_file(&text, path.data, NULL), 0);
	assert_int_equal(ini_read(&ini, path.data, &err), 0);
	assert_string_equal(ini.path, path.data);
	assert_string_equal(ini_get(&ini, "a", "x"), "1");
	ini_free(&ini);
	buf_add(&text, "\0", 1);
	assert_int_equal(buf_write_file(&text, path.data, NULL), 0);
	assert_int_equal(ini_read(&ini, path.data, &err), -EINVAL);
	assert_non_null(strstr(err.text, "NUL"));
	assert_int_equal(ini_read(&ini, "no/such", NULL), -ENOENT);
	unlink(path.data);
	buf_free(&path);
	buf_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_in_order_with_their_lines),
		cmocka_unit_test(indented_lines_continue_a_value),
		cmocka_unit_test(comments_of_rows),
		cmocka_unit_test(empty_text_has_no_rows),
		cmocka_unit_test(errors_name_the_line),
		cmocka_unit_test(nothing_is_cut_silently),
		cmocka_unit_test(files_and_their_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
