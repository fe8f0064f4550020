/* fuzz_profile.c -- a profile is read or refused; calls of a universe that was read can be made. */
#include "base/buf.h"
#include "base/err.h"
#include "tests/harness/input.h"
#include "trace/script.h"
#include "universe/universe.h"

enum { CALLS_TRIED = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = input_open(data, size);
	struct buf text = BUF_INIT;
	struct err err = { 0 };
	struct universe u;
	struct call call;
	struct rng rng;

	rng_seed(&rng, size);
	must(universe_open(&u, in.path, NULL, 0, &err) == err.code);
	for (unsigned i = 0; i < CALLS_TRIED && !err.code && u.calls; i++) {
		uint64_t n = i % 2 ? universe_draw(&u, &rng) : u.calls / CALLS_TRIED * i;

		must(n < u.calls);
		universe_call(&u, n, &call);
		call_print(&call, DIALECT_NATIVE, &text);
	}
	if (!err.code)
		universe_free(&u);
	buf_free(&text);
	input_close(&in);
	return 0;
}
