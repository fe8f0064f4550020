/* test_err.c -- filled once, by the innermost reason; what must() prints. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tests/harness/unit.h"

static void set_fills_code_and_text(void **state)
{
	struct err err = { 0 };

	assert_int_equal(err_set(&err, EINVAL, "line %d is odd", 3), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "line 3 is odd");
}

static void the_innermost_reason_wins(void **state)
{
	struct err err = { 0 };

	err_sys(&err, ENOENT, "cannot open %s", "x");
	assert_int_equal(err_set(&err, EIO, "outer"), -EIO);
	assert_int_equal(err_sys(&err, EPERM, "outer"), -EPERM);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "cannot open x: No such file or directory");
}

static void no_err_wanted(void **state)
{
	assert_int_equal(err_set(NULL, EIO, "unseen"), -EIO);
	assert_int_equal(err_sys(NULL, EIO, "unseen"), -EIO);
}

static void long_texts_are_cut(void **state)
{
	struct err err = { 0 };
	char text[2 * ERR_TEXT_MAX];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_sys(&err, EIO, "%s", text);
	assert_int_equal(strlen(err.text), ERR_TEXT_MAX - 1);
}

/* Runs bug() in a child and returns what it wrote to stderr and how it ended. */
static int last_words(void (*bug)(void), struct buf *ret_words)
{
	struct rlimit no_core = { 0, 0 };
	int ends[2], status;
	pid_t child;

	assert_return_code(pipe(ends), errno);
	child = fork();
	assert_return_code(child, errno);
	if (!child) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		bug();
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(buf_read_fd(ret_words, ends[0], 4096, NULL), 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void broken_promise(void)
{
	must_note("seed %d, call %d", 7, 12);
	must(1 + 1 == 3);
}

static void must_tells_condition_place_and_note(void **state)
{
	struct buf words = BUF_INIT;
	int status = last_words(broken_promise, &words);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(words.data, "1 + 1 == 3"));
	assert_non_null(strstr(words.data, "test_err.c:"));
	assert_non_null(strstr(words.data, "seed 7, call 12"));
	buf_free(&words);
}

static void too_much(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };

	setrlimit(RLIMIT_DATA, &limit);
	must_alloc(1UL << 40);
}

static void out_of_memory_is_one_line(void **state)
{
	struct buf words = BUF_INIT;
	int status;

#ifdef __SANITIZE_ADDRESS__
	skip(); /* the sanitizer's allocator ends the program itself */
#endif
	status = last_words(too_much, &words);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 70);
	assert_string_equal(words.data, "assay: out of memory (1099511627776 bytes wanted)\n");
	buf_free(&words);
}

static void allocation_of_nothing_is_something(void **state)
{
	char *text = must_strdup("text");
	void *memory = must_alloc(0);

	assert_string_equal(text, "text");
	assert_non_null(memory);
	memory = must_realloc(memory, 0);
	assert_non_null(memory);
	free(memory);
	free(text);
}

static const char *nearest_of(const char *given)
{
	static const char *const names[] = {
		"explore", "export", "conform", "confirm", "ops", "run"
	};
	struct nearest n = NEAREST_TO(given);

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		nearest_offer(&n, names[i]);
	return n.name ? n.name : "";
}

static void a_mistyped_name_has_a_nearest_one(void **state)
{
	assert_string_equal(nearest_of("explroe"), "explore"); /* exchanged */
	assert_string_equal(nearest_of("exlpore"), "explore");
	assert_string_equal(nearest_of("xplore"), "explore");   /* left out */
	assert_string_equal(nearest_of("expllore"), "explore"); /* added */
	assert_string_equal(nearest_of("exporr"), "export");    /* replaced */
	assert_string_equal(nearest_of("confrim"), "confirm");
	assert_string_equal(nearest_of("rnu"), "run");
	assert_string_equal(nearest_of("opx"), "ops");
	assert_string_equal(nearest_of(""), "");
	assert_string_equal(nearest_of("r"), ""); /* too little is left of it */
	assert_string_equal(nearest_of("frobnicate"), "");
	assert_string_equal(nearest_of("a-name-that-is-longer-than-any-of-these-names-can-be"), "");
}

static void a_suggestion_ends_the_sentence(void **state)
{
	struct nearest n = NEAREST_TO("rnu"), none = NEAREST_TO("rnu");
	struct err err = { 0 };

	nearest_offer(&n, "run");
	err_set(&err, EINVAL, "rnu: no such command");
	err_suggest(&err, &none);
	assert_string_equal(err.text, "rnu: no such command");
	err_suggest(&err, &n);
	assert_string_equal(err.text, "rnu: no such command; did you mean run?");
	err_suggest(NULL, &n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_fills_code_and_text),
		cmocka_unit_test(the_innermost_reason_wins),
		cmocka_unit_test(no_err_wanted),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(a_mistyped_name_has_a_nearest_one),
		cmocka_unit_test(a_suggestion_ends_the_sentence),
		cmocka_unit_test(must_tells_condition_place_and_note),
		cmocka_unit_test(out_of_memory_is_one_line),
		cmocka_unit_test(allocation_of_nothing_is_something),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
