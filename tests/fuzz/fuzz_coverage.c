/* fuzz_coverage.c -- a coverage file is read or refused; what is read can be added up. */
#include "base/err.h"
#include "cover/cover.h"
#include "tests/harness/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_open(data, size);
	struct err err = { 0 };
	json_t *coverage = cover_load(in.path, &err);
	struct cover sum;

	must(!coverage == (err.code != 0));
	if (coverage) {
		cover_init(&sum);
		cover_add_json(&sum, coverage);
		cover_add_json(&sum, coverage);
		json_decref(cover_json(&sum));
		cover_free(&sum);
		json_decref(coverage);
	}
	input_close(&in);
	return 0;
}
