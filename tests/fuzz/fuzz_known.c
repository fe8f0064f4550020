/* fuzz_known.c -- a list of known failures is read or refused. */
#include <stdlib.h>

#include "base/err.h"
#include "base/must.h"
#include "run/known.h"
#include "tests/harness/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_open(data, size);
	struct err err = { 0 };
	struct known known = { 0 };

	must(known_read(&known, in.path, "2026-01-01", &err) == err.code);
	for (size_t i = 0; i < known.count; i++) {
		const struct known_row *row = &known.rows[i];
		char *target = must_strdup(row->line);

		target[row->text - row->line - 2] = '\0';
		must((row->expired || known_find(&known, target, row->text)) && row->reason);
		free(target);
	}
	json_decref(known_json(&known));
	known_free(&known);
	input_close(&in);
	return 0;
}
