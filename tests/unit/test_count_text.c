/* test_count_text.c -- numbers and what they count. */
#include <inttypes.h>
#include <stdio.h>

#include "base/count_text.h"
#include "tests/harness/unit.h"

static void test_one_is_singular(void **state)
{
	assert_string_equal(count_text(1, "workload"), "1 workload");
	assert_string_equal(count_text(1, "recovery"), "1 recovery");
}

static void test_others_are_plural(void **state)
{
	assert_string_equal(count_text(0, "workload"), "0 workloads");
	assert_string_equal(count_text(2, "recovery"), "2 recoveries");
	assert_string_equal(count_text(2, "day"), "2 days");
	assert_string_equal(count_text(3, "search"), "3 searches");
	assert_string_equal(count_text(4, "crash"), "4 crashes");
	assert_string_equal(count_text(UINT64_MAX, "different disk"),
			    "18446744073709551615 different disks");
}

/* As many as a message may have. */
static void test_texts_of_one_message(void **state)
{
	const char *texts[COUNT_TEXTS];
	char expected[32];

	for (uint64_t i = 0; i < COUNT_TEXTS; i++)
		texts[i] = count_text(i + 2, "call");
	for (uint64_t i = 0; i < COUNT_TEXTS; i++) {
		snprintf(expected, sizeof(expected), "%" PRIu64 " calls", i + 2);
		assert_string_equal(texts[i], expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_is_singular),
		cmocka_unit_test(test_others_are_plural),
		cmocka_unit_test(test_texts_of_one_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
