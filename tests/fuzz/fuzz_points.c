/* fuzz_points.c -- tables of a kernel's points are read or refused. */
#include <stdlib.h>

#include "base/err.h"
#include "codecov/code.h"
#include "tests/harness/input.h"

enum { BITS_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t reached[BITS_MAX / 8] = { 0x55, 0xff };
	struct input in = input_open(data, size);
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct code code;

	must(code_read(&code, in.path, BITS_MAX, &err) == err.code);
	if (!err.code) {
		must(code.bits <= BITS_MAX);
		json_decref(code_json(&code, reached));
		code_lines(&code, reached, &text);
		code_info(&code, reached, &text);
	}
	code_free(&code);
	buf_free(&text);
	input_close(&in);
	return 0;
}
