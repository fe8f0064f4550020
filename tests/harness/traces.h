/* traces.h -- for tests of the checker: a trace in, a verdict out. */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include <string.h>

#include "base/err.h"
#include "history/check.h"
#include "tests/harness/unit.h"

static struct script trace;
static struct trace_checker checker;

/* Judges a trace up to its first bad item. */
static enum verdict judge(enum platform platform, const char *text, struct mismatch *ret)
{
	const struct state_options start = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0777 };
	enum verdict worst = VERDICT_OK, verdict;
	struct err err = { 0 };
	struct model model;

	trace_checker_free(&checker);
	model_init(&model, platform, KERNEL_CURRENT);
	trace_checker_init(&checker, &model, &start);
	if (script_parse(&trace, "test", text, strlen(text), &err))
		fail_msg("%s", err.text);
	trace_checker_begin(&checker);
	for (size_t i = 0; i < trace.count && worst != VERDICT_BAD; i++) {
		verdict = trace_checker_item(&checker, &trace, i, ret);
		if (verdict > worst)
			worst = verdict;
	}
	return worst;
}

static void accepts(const char *text)
{
	struct mismatch m = { 0 };

	if (judge(PLATFORM_LINUX, text, &m) != VERDICT_OK)
		fail_msg("line %u: %s = %s, allowed: %s", m.line, m.call, m.seen, m.allowed);
}

#endif
