/* test_signature.c -- what a discrepancy is known by. */
#include <string.h>

#include "base/err.h"
#include "judge/signature.h"
#include "model/model.h"
#include "tests/harness/unit.h"
#include "trace/script.h"

static struct state before;
static unsigned process;

/* A directory with one name, which is open. */
static int begin(void **state)
{
	static const char calls[] = "create_file(\"a\", O_RDWR|O_CREAT, 0644)\nopendir(\".\")\n";
	const struct state_options options = { .fields = TREE_FIELDS_DEFAULT,
					       .hashed = true,
					       .root_mode = 0777 };
	struct script script = { 0 };
	struct model model;
	struct envelope env;
	struct err err = { 0 };

	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	state_init(&before, &options);
	if (script_parse(&script, "test", calls, strlen(calls), &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < script.count; i++)
		model_move(&model, &before, &script.items[i].call, &env);
	process = script.items[0].call.pid;
	script_free(&script);
	return 0;
}

static int end(void **state)
{
	state_free(&before);
	return 0;
}

static const char *value_signature(enum op op, const struct outcome *expected,
				   const struct outcome *seen)
{
	static char text[SIGNATURE_MAX];
	struct call c = { .op = op, .pid = process };

	if (op == OP_readdir)
		c.readdir.dh.num = 1;
	signature_of_value(text, &c, &before, expected, seen);
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
	assert_string_equal(value_signature(OP_readdir, &fine, &seen),
			    "OUTCOME readdir value (out of place)");
	seen.bytes = "b";
	assert_string_equal(value_signature(OP_readdir, &fine, &seen),
			    "OUTCOME readdir value (not in the directory)");
	seen = (struct outcome){ .result = RESULT_NAME };
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
		cmocka_unit_test_setup_teardown(values_are_told_apart, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
