/* fuzz_expected.c -- a list of known failures is read or refused. */
#include "base/err.h"
#include "run/known.h"
#include "tests/harness/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_open(data, size);
	struct err err = { 0 };
	struct expected known = { 0 };

	must(expected_read(&known, in.path, "2026-01-01", &err) == err.code);
	for (size_t i = 0; i < known.count; i++)
		must(expected_has(&known, known.rows[i].signature) && known.rows[i].reason);
	json_decref(expected_json(&known));
	expected_free(&known);
	input_close(&in);
	return 0;
}
