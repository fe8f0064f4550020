/* test_wrap.c -- words filled into lines. */
#include <string.h>

#include "base/buf.h"
#include "base/wrap.h"
#include "tests/harness/unit.h"

static void words_go_back_to_their_column(void **state)
{
	struct buf out = BUF_INIT;

	wrap_words("  one two\nthree ", 70, &out);
	assert_string_equal(out.data,
			    "one two\n"
			    "                                                              "
			    "        three\n");
	buf_clear(&out);
	wrap_words("", 4, &out);
	assert_string_equal(out.data, "\n");
	buf_free(&out);
}

static void a_long_word_has_a_line_of_its_own(void **state)
{
	struct buf out = BUF_INIT;
	char word[101];

	memset(word, 'x', 100);
	word[100] = '\0';
	wrap_words(word, 0, &out);
	assert_int_equal(out.len, 101);
	buf_free(&out);
}

static void lines_are_at_most_eighty_wide(void **state)
{
	struct buf text = BUF_INIT, out = BUF_INIT;
	size_t lines = 0;

	for (int i = 0; i < 200; i++)
		buf_addf(&text, "%d%s", i * 37, i % 9 ? " " : "\n");
	wrap_text(text.data, &out);
	for (const char *line = out.data; *line; line = strchr(line, '\n') + 1, lines++)
		assert_in_range(strcspn(line, "\n"), 1, 80);
	assert_in_range(lines, 10, 20);
	buf_free(&text);
	buf_free(&out);
}

static void paragraphs_and_kept_lines(void **state)
{
	struct buf out = BUF_INIT;

	wrap_text("one\ntwo\n\nthree\n\tkept\n- item\nfour", &out);
	assert_string_equal(out.data, "one two\n\nthree\n\tkept\n- item\nfour\n");
	buf_clear(&out);
	wrap_text("", &out);
	assert_string_equal(buf_str(&out), "");
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_go_back_to_their_column),
		cmocka_unit_test(a_long_word_has_a_line_of_its_own),
		cmocka_unit_test(lines_are_at_most_eighty_wide),
		cmocka_unit_test(paragraphs_and_kept_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
