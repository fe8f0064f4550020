/* fuzz_pickle.c -- a pickle whose hash is right is refused, or a file system that can be used. */
#include <stddef.h>
#include <stdint.h>

#include "tests/harness/pickles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf bytes = BUF_INIT;

	buf_add(&bytes, data, size);
	pickle_seal(&bytes);
	pickle_try(&bytes);
	buf_free(&bytes);
	return 0;
}
