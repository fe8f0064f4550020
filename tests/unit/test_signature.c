/* test_signature.c -- what a discrepancy is known by. */
#include <string.h>

#include "judge/signature.h"
#include "tests/harness/unit.h"

static const char *value_signature(enum op op, const struct outcome *expected,
				   const struct outcome *seen)
{
	static char text[SIGNATURE_MAX];
	struct call c = { .op = op };

	signature_of_value(text, &c, expected, seen);
	return text;
}

/* One wrong value does not hide another. */
static void values_are_told_apart(void **state)
{
	static const char hole[] = "byte 31 is not zero, but lseek reports a hole there";
	static const char size[] = "a hole at 12288, the size is 9000";
	struct outcome fine = { .result = RESULT_BYTES, .bytes = "ab", .len = 2 }, seen = fine;

	seen.bytes = "a\0";
	assert_string_equal(value_signature(OP_read, &fine, &seen), "OUTCOME read value (zeros)");
	seen.len = 1;
	assert_string_equal(value_signature(OP_pread, &fine, &seen),
			    "OUTCOME read value (too short)");
	seen = (struct outcome){ .result = RESULT_NAME, .bytes = "a", .len = 1 };
	assert_string_equal(value_signature(OP_readdir, &fine, &seen), "OUTCOME readdir value");
	seen = (struct outcome){ .result = RESULT_NAME, .end = true };
	assert_string_equal(value_signature(OP_readdir, &fine, &seen),
			    "OUTCOME readdir value (the end)");
	seen = (struct outcome){ .result = RESULT_BYTES, .bytes = hole, .len = strlen(hole) };
	assert_string_equal(
		value_signature(OP_inspect_file, &fine, &seen),
		"OUTCOME inspect_file value (byte is not zero but lseek reports a hole there)");
	seen = (struct outcome){ .result = RESULT_BYTES, .bytes = size, .len = strlen(size) };
	assert_string_equal(value_signature(OP_inspect_file, &fine, &seen),
			    "OUTCOME inspect_file value (a hole at the size is)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
