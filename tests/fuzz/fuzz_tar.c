/* fuzz_tar.c -- an archive may hold anything: what is visited lies within it, and has a name. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "suite/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_member(void *to, const char *name, const char *text, size_t len)
{
	const struct buf *archive = to;

	must(strlen(name) <= archive->len);
	must(text >= archive->data && len <= (size_t)(archive->data + archive->len - text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf archive = BUF_INIT;

	buf_add(&archive, data, size);
	if (tar_is_archive(&archive))
		must(size >= 512);
	tar_each(&archive, check_member, &archive);
	buf_free(&archive);
	return 0;
}
