/* fuzz_script.c -- the script reader takes any text; what it takes it prints, and what it prints
 * it reads as the same, in both dialects. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "trace/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printed, read and printed again; traces of other dialects cannot say everything. */
static void round_trip(const struct script *s, enum dialect dialect)
{
	struct buf once = BUF_INIT, twice = BUF_INIT;
	struct script back = { 0 };
	struct err err = { 0 };

	script_print(s, dialect, &once);
	must(!script_parse(&back, "printed", buf_str(&once), once.len, &err));
	must(script_equal(s, &back) || (s->is_trace && dialect != s->dialect));
	script_print(&back, dialect, &twice);
	must(!strcmp(buf_str(&once), buf_str(&twice)));
	script_free(&back);
	buf_free(&once);
	buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script s = { 0 };
	struct err err = { 0 };
	int ret;

	ret = script_parse(&s, "fuzz", (const char *)data, size, &err);
	must(ret == err.code && (!ret || ret == -EINVAL));
	if (!ret) {
		round_trip(&s, DIALECT_NATIVE);
		round_trip(&s, DIALECT_PUBLISHED);
	}
	script_free(&s);
	return 0;
}
