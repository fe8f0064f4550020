/* fuzz_ftrace.c -- the reader of ftrace's text takes anything, and what it counts adds up. */
#include "base/err.h"
#include "cover/readers.h"
#include "tests/harness/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const mounts[] = { "/m" };
	struct read_options options = { .mounts = mounts, .mount_count = size % 2 };
	struct input in = input_open(data, size);
	struct err err = { 0 };
	struct coverage c;

	coverage_init(&c, "ftrace");
	must(read_ftrace(&c, &options, in.path, &err) == err.code);
	json_decref(coverage_json(&c));
	coverage_free(&c);
	input_close(&in);
	return 0;
}
