/* fuzz_description.c -- descriptions of targets are read or refused, and found by their names. */
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "target/description.h"
#include "tests/harness/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_open(data, size);
	struct buf names = BUF_INIT;
	struct err err = { 0 };

	if (!description_names(in.path, &names, &err))
		for (const char *name = names.data; name < names.data + names.len;
		     name += strlen(name) + 1) {
			struct target_description d = { 0 };
			struct err why = { 0 };

			must(description_find(&d, name, in.path, &why) == why.code);
			must(why.code || d.kind);
			description_free(&d);
		}
	buf_free(&names);
	input_close(&in);
	return 0;
}
