/* test_buf.c -- buffers and whole files. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "tests/harness/unit.h"

static void empty_is_an_empty_text(void **state)
{
	struct buf b = BUF_INIT;

	assert_string_equal(buf_str(&b), "");
	buf_add(&b, NULL, 0);
	buf_clear(&b);
	assert_null(b.data);
	buf_free(&b);
}

static void adding_keeps_the_nul(void **state)
{
	struct buf b = BUF_INIT;

	buf_addch(&b, 'a');
	buf_adds(&b, "bc");
	buf_add(&b, "d\0e", 3);
	buf_addf(&b, "%d", 42);
	assert_int_equal(b.len, 8);
	assert_memory_equal(b.data, "abcd\0e42", 9);
	buf_clear(&b);
	assert_string_equal(buf_str(&b), "");
	assert_true(b.cap > 0);
	buf_free(&b);
	assert_null(b.data);
}

static void long_texts_are_clipped(void **state)
{
	struct buf b = BUF_INIT;

	buf_add_clipped(&b, "just so", 7);
	assert_string_equal(buf_str(&b), "just so");
	buf_clear(&b);
	buf_add_clipped(&b, "abcdefgh", 3);
	assert_string_equal(buf_str(&b), "abc... (8 bytes)");
	buf_clear(&b);
	buf_add_clipped(&b, "ab\\x1bcdef", 4); /* would leave half an escape */
	assert_string_equal(buf_str(&b), "ab... (10 bytes)");
	buf_clear(&b);
	buf_add_clipped(&b, "abc\\\\defgh", 5); /* an escaped backslash is whole */
	assert_string_equal(buf_str(&b), "abc\\\\... (10 bytes)");
	buf_free(&b);
}

static void reserve_terminates(void **state)
{
	struct buf b = BUF_INIT;

	buf_reserve(&b, 1000);
	assert_true(b.cap > 1000);
	assert_string_equal(b.data, "");
	buf_free(&b);
}

static void numbers_are_as_printf_has_them(void **state)
{
	const uint64_t values[] = { 0, 1, 9, 10, 99, 4096, UINT32_MAX, UINT64_MAX };
	struct buf b = BUF_INIT;
	char text[32];

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		buf_clear(&b);
		buf_addu(&b, values[i]);
		snprintf(text, sizeof(text), "%" PRIu64, values[i]);
		assert_string_equal(b.data, text);
	}
	buf_free(&b);
}

static void formats_longer_than_the_room(void **state)
{
	struct buf b = BUF_INIT;

	for (int width = 1; width < 300; width++) {
		buf_clear(&b);
		buf_addf(&b, "%*d|", width, 7);
		assert_int_equal(b.len, width + 1);
		assert_string_equal(b.data + width - 1, "7|");
		buf_free(&b);
	}
}

/* A path in the test's own directory. */
static const char *scratch(const char *name)
{
	static char path[4096];
	const char *work = getenv("WORK");

	snprintf(path, sizeof(path), "%s/%s", work ? work : "/tmp", name);
	return path;
}

static void files_are_read_as_written(void **state)
{
	struct buf out = BUF_INIT, in = BUF_INIT;
	const char *path = scratch("file");
	struct err err = { 0 };

	for (int i = 0; i < 100000; i++)
		buf_addu(&out, (uint64_t)i);
	assert_int_equal(buf_write_file(&out, path, &err), 0);
	assert_int_equal(buf_read_file(&in, path, out.len, &err), 0);
	assert_int_equal(in.len, out.len);
	assert_memory_equal(in.data, out.data, out.len);
	assert_int_equal(buf_read_file(&in, path, out.len - 1, &err), -EFBIG);
	buf_clear(&in);
	buf_clear(&out);
	assert_int_equal(buf_write_file(&out, path, NULL), 0);
	assert_int_equal(buf_read_file(&in, path, 0, NULL), 0);
	assert_int_equal(in.len, 0);
	unlink(path);
	buf_free(&in);
	buf_free(&out);
}

static void reading_appends(void **state)
{
	struct buf b = BUF_INIT;
	int ends[2];

	assert_return_code(pipe(ends), errno);
	assert_int_equal(write(ends[1], "cd", 2), 2);
	close(ends[1]);
	buf_adds(&b, "ab");
	assert_int_equal(buf_read_fd(&b, ends[0], SIZE_MAX, NULL), 0);
	assert_string_equal(b.data, "abcd");
	close(ends[0]);
	buf_free(&b);
}

static void failures_name_the_file(void **state)
{
	struct buf b = BUF_INIT;
	struct err err = { 0 };

	assert_int_equal(buf_read_file(&b, "no/such", 10, &err), -ENOENT);
	assert_string_equal(err.text, "cannot open no/such: No such file or directory");
	err = (struct err){ 0 };
	assert_int_equal(buf_write_file(&b, "no/such", &err), -ENOENT);
	assert_non_null(strstr(err.text, "no/such"));
	err = (struct err){ 0 };
	assert_int_equal(buf_read_file(&b, "/", 10, &err), -EISDIR);
	assert_string_equal(err.text, "cannot read /: Is a directory");
	buf_free(&b);
}

static void a_failed_write_leaves_no_temporary(void **state)
{
	struct buf b = BUF_INIT, temporary = BUF_INIT;
	const char *path = scratch("directory");
	struct err err = { 0 };

	assert_return_code(mkdir(path, 0777), errno);
	assert_int_equal(buf_write_file(&b, path, &err), -EISDIR);
	buf_addf(&temporary, "%s.%d.tmp", path, (int)getpid());
	assert_int_equal(access(temporary.data, F_OK), -1);
	rmdir(path);
	buf_free(&temporary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_is_an_empty_text),
		cmocka_unit_test(adding_keeps_the_nul),
		cmocka_unit_test(long_texts_are_clipped),
		cmocka_unit_test(reserve_terminates),
		cmocka_unit_test(numbers_are_as_printf_has_them),
		cmocka_unit_test(formats_longer_than_the_room),
		cmocka_unit_test(files_are_read_as_written),
		cmocka_unit_test(reading_appends),
		cmocka_unit_test(failures_name_the_file),
		cmocka_unit_test(a_failed_write_leaves_no_temporary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
