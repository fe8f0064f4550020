/* fuzz_strace.c -- the reader of strace's text takes anything, and what it counts adds up. */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/must.h"
#include "cover/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t outcomes(const struct coverage *c)
{
	uint64_t sum = 0;

	for (size_t op = 0; op < OP_COUNT; op++)
		for (size_t error = 0; error < COVER_ERRNOS; error++)
			sum += c->counts.outputs[op][error];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const mounts[] = { "/m" };
	struct read_options options = { .mounts = mounts, .mount_count = size % 2, .cwd = "/m" };
	struct buf text = BUF_INIT;
	struct coverage c;

	buf_add(&text, data, size);
	coverage_init(&c, "strace");
	read_strace_text(&c, &options, buf_str(&text), text.len);
	must(outcomes(&c) == c.calls);
	json_decref(coverage_json(&c));
	coverage_free(&c);
	buf_free(&text);
	return 0;
}
