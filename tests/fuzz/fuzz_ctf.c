/* fuzz_ctf.c -- a trace in the Common Trace Format may be damaged anywhere: metadata, and behind a
 * line "----" the stream. */
#include <string.h>

#include "base/err.h"
#include "cover/readers.h"
#include "tests/harness/input_dir.h"

static const char separator[] = "----\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Modules that the library loads keep a few bytes of every trace that they refuse. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *at = memmem(data, size, separator, strlen(separator));
	struct read_options options = { 0 };
	struct err err = { 0 };
	struct coverage c;

	if (!at)
		return 0;
	input_dir_put("metadata", data, (size_t)(at - data));
	at += strlen(separator);
	input_dir_put("stream", at, size - (size_t)(at - data));
	coverage_init(&c, "ctf");
	must(read_ctf(&c, &options, input_dir(), &err) == err.code);
	json_decref(coverage_json(&c));
	coverage_free(&c);
	return 0;
}
