/* formats.c -- the findings of a run as tests that pass and fail. */
#include "report/formats.h"

#include <stdbool.h>
#include <string.h>

#include "base/json.h"

static bool is_of_target(const json_t *finding, const char *target)
{
	return !target || !strcmp(json_text(finding, "target"), target);
}

/* target: NULL for all of them. */
static size_t visit_findings(const json_t *summary, const char *target, const char *own,
			     void (*visit)(void *to, const struct report_test *test), void *to)
{
	const json_t *finding;
	size_t i, count = 0;

	json_array_foreach(json_object_get(summary, "findings"), i, finding)
	{
		const char *where = json_text(finding, "target");
		struct report_test test = {
			.target = *where ? where : own,
			.name = json_text(finding, "title"),
			.why = json_text(finding, "signature"),
			.fate = REPORT_FAILED,
			.finding = finding,
		};

		if (!is_of_target(finding, target))
			continue;
		visit(to, &test);
		count++;
	}
	return count;
}

static enum report_fate fate_of(const json_t *row, const char **ret_why)
{
	const char *verdict = json_text(row, "verdict");

	*ret_why = *json_text(row, "lacks") ? json_text(row, "lacks") : json_text(row, "failure");
	if (*json_text(row, "lacks"))
		return REPORT_NOT_RUN;
	if (**ret_why || !strcmp(verdict, "unknown")) {
		*ret_why = **ret_why ? *ret_why : "could not tell";
		return REPORT_UNKNOWN;
	}
	return REPORT_PASSED;
}

/* What is not a finding of it: that it passed, could not be judged or was not run. */
static void visit_target(const char *command, const char *target, const json_t *row,
			 size_t findings, void (*visit)(void *to, const struct report_test *test),
			 void *to)
{
	struct report_test test = { .target = target, .name = command };

	test.fate = fate_of(row, &test.why);
	if (!findings || test.fate != REPORT_PASSED)
		visit(to, &test);
}

void report_tests(const struct report_run *run,
		  void (*visit)(void *to, const struct report_test *test), void *to)
{
	const char *command = json_text(run->summary, "command"), *target;
	const json_t *targets = json_object_get(run->summary, "targets"), *row;
	size_t i, findings;

	if (!json_array_size(targets)) {
		target = json_text(run->summary, "target");
		findings = visit_findings(run->summary, NULL, target, visit, to);
		visit_target(command, target, run->summary, findings, visit, to);
		return;
	}
	json_array_foreach(targets, i, row)
	{
		target = json_text(row, "target");
		findings = visit_findings(run->summary, target, target, visit, to);
		visit_target(command, target, row, findings, visit, to);
	}
}
