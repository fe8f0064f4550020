/* test_version.c -- versions of Linux: what is one, which is newer, how it is written. */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/version.h"
#include "tests/harness/unit.h"

static struct version parsed(const char *text)
{
	struct version v = VERSION_NONE;
	struct err err = { 0 };

	if (version_parse(text, &v, &err))
		fail_msg("%s", err.text);
	return v;
}

static void what_is_printed_is_read_back(void **state)
{
	static const char *const texts[] = { "2.6", "6.18", "6.1.0", "6.12.3", "9999.9999.9999" };
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		buf_clear(&out);
		version_print(parsed(texts[i]), &out);
		assert_string_equal(out.data, texts[i]);
	}
	buf_clear(&out);
	version_print((struct version)VERSION_NONE, &out);
	assert_string_equal(out.data, "unknown");
	buf_free(&out);
}

static void anything_else_is_refused(void **state)
{
	static const char *const texts[] = { "",         "6",          "6.",     ".18",
					     "6.18-rc1", "6.18.",      "6.18.x", "6.1 ",
					     " 6.1",     "-6.1",       "0.0",    "6.12.3.4",
					     "10000.1",  "6.18.10000", "next" };
	struct version v = VERSION(1, 2);

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = { 0 };

		assert_int_equal(version_parse(texts[i], &v, &err), -EINVAL);
		assert_true(strstr(err.text, "expected a kernel version"));
		assert_int_equal(version_compare(v, (struct version)VERSION(1, 2)), 0);
	}
}

static void a_release_begins_with_its_version(void **state)
{
	struct version v = version_leading("6.1.0-13-amd64");

	assert_int_equal(v.major, 6);
	assert_int_equal(v.minor, 1);
	assert_int_equal(v.patch, 0);
	assert_int_equal(version_leading("6.19.0-rc7+").minor, 19);
	assert_int_equal(version_leading("6.13-rc1").patch, VERSION_SERIES);
	assert_int_equal(version_leading("6.6.87.2-microsoft").patch, 87);
	assert_false(version_known(version_leading("unknown")));
	assert_true(version_known(version_running()));
}

static void newer_is_more(void **state)
{
	/* Each is older than the next, though not as text. */
	static const char *const order[] = { "2.6", "3.19", "6.4.9", "6.4.12", "6.12", "10.0" };

	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		for (size_t k = 0; k < ARRAY_LEN(order); k++) {
			int c = version_compare(parsed(order[i]), parsed(order[k]));

			assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
		}
}

static void a_series_is_all_its_patches(void **state)
{
	assert_int_equal(version_compare(parsed("6.5"), parsed("6.5.11")), 0);
	assert_int_equal(version_compare(parsed("6.5.11"), parsed("6.5")), 0);
	assert_true(version_compare(parsed("6.6.0"), parsed("6.5")) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_printed_is_read_back),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(a_release_begins_with_its_version),
		cmocka_unit_test(newer_is_more),
		cmocka_unit_test(a_series_is_all_its_patches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
