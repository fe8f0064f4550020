/* fuzz_check.c -- a trace of any text is judged, on every platform: outcomes of the wrong kind,
 * values that no system returns, calls of processes and descriptors that do not exist. */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/must.h"
#include "history/check.h"
#include "trace/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Calls that overlap are judged in every order, which takes long where there are many. */
enum { ITEMS_MAX = 200 };

static void judge(const struct script *trace, enum platform platform)
{
	const struct state_options start = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0777 };
	struct trace_checker checker;
	struct mismatch mismatch;
	struct model model;

	model_init(&model, platform, KERNEL_CURRENT);
	trace_checker_init(&checker, &model, &start);
	trace_checker_begin(&checker);
	for (size_t i = 0; i < trace->count; i++)
		if (trace_checker_item(&checker, trace, i, &mismatch) == VERDICT_BAD)
			must(mismatch.call && mismatch.seen && mismatch.allowed);
	trace_checker_free(&checker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script trace = { 0 };
	struct err err = { 0 };

	if (!script_parse(&trace, "fuzz", (const char *)data, size, &err) &&
	    trace.count <= ITEMS_MAX)
		for (int p = 0; p < PLATFORM_COUNT; p++)
			judge(&trace, (enum platform)p);
	script_free(&trace);
	return 0;
}
