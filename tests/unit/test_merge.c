/* test_merge.c -- calls done without: what the others do instead of them. */
#include <string.h>

#include "base/buf.h"
#include "finding/merge.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

enum { CALLS_MAX = 8 };

/* The calls, one on each line, without call i. */
static void assert_merged(const char *text, size_t i, unsigned way, const char *wanted)
{
	struct call calls[CALLS_MAX], merged[CALLS_MAX];
	struct arena arena = ARENA_INIT;
	struct buf got = BUF_INIT;
	size_t count = 0, len;

	for (; *text; text += len + 1) {
		char *line = arena_copy(&arena, text, len = strcspn(text, "\n"));

		assert_true(count < CALLS_MAX);
		assert_int_equal(call_parse(&calls[count++], line, &arena, NULL), 0);
	}
	assert_true(merge_call(calls, count, i, way, merged, &count, &arena));
	for (size_t j = 0; j < count; j++) {
		call_print(&merged[j], DIALECT_NATIVE, &got);
		buf_addch(&got, '\n');
	}
	assert_string_equal(buf_str(&got), wanted);
	buf_free(&got);
	arena_free(&arena);
}

static void later_descriptors_are_smaller(void **state)
{
	assert_merged("open(\"a\", O_RDONLY, 0000)\nopen(\"b\", O_RDONLY, 0000)\nwrite(4, \"x\", "
		      "1)\nclose(3)\nclose(4)\n",
		      0, MERGE_WITHOUT_PATHS + 1,
		      "open(\"b\", O_RDONLY, 0000)\nwrite(3, \"x\", 1)\nclose(3)\n");
}

/* The number of one that was closed is given again. */
static void closed_descriptors_are_free(void **state)
{
	assert_merged(
		"creat(\"f\", 0644)\nclose(3)\nopen(\"a\", O_RDONLY, 0000)\nopen(\"f\", O_RDWR, "
		"0)\nwrite(4, \"x\", 1)\n",
		2, MERGE_WITHOUT_PATHS + 1,
		"creat(\"f\", 0644)\nclose(3)\nopen(\"f\", O_RDWR, 0000)\nwrite(3, \"x\", 1)\n");
}

static void the_next_opening_makes_the_file(void **state)
{
	assert_merged(
		"creat(\"f\", 0644)\nclose(3)\nopen(\"f\", O_RDWR, 0644)\nwrite(3, \"x\", 1)\n", 0,
		MERGE_WITHOUT_PATHS + 2, "open(\"f\", O_RDWR|O_CREAT, 0644)\nwrite(3, \"x\", 1)\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_descriptors_are_smaller),
		cmocka_unit_test(closed_descriptors_are_free),
		cmocka_unit_test(the_next_opening_makes_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
