/* junit.c -- runs as JUnit XML: testsuites, testsuite, testcase, failure. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/must.h"
#include "report/formats.h"
#include "report/xml.h"

/* The suite that tests are added to: one target of one run. */
struct junit_writer {
	const struct report_run *run;
	char *target;
	size_t tests, by_fate[REPORT_NOT_RUN + 1];
	struct buf cases;
	struct buf *out;
};

static void junit_end_suite(struct junit_writer *w)
{
	struct buf name = BUF_INIT;

	if (!w->target)
		return;
	buf_addf(&name, "%s %s", json_text(w->run->summary, "command"), w->target);
	buf_adds(w->out, "<testsuite");
	xml_attribute(w->out, "name", buf_str(&name));
	buf_addf(w->out,
		 " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
		 w->tests, w->by_fate[REPORT_FAILED], w->by_fate[REPORT_UNKNOWN],
		 w->by_fate[REPORT_NOT_RUN],
		 json_number_value(json_object_get(w->run->summary, "seconds")));
	buf_adds(w->out, buf_str(&w->cases));
	buf_adds(w->out, "</testsuite>\n");
	buf_clear(&w->cases);
	free(w->target);
	w->target = NULL;
	w->tests = 0;
	memset(w->by_fate, 0, sizeof(w->by_fate));
	buf_free(&name);
}

/* What is known of a finding, a line each. */
static void junit_add_finding(const struct junit_writer *w, const json_t *finding, struct buf *out)
{
	static const char *const keys[] = { "code", "severity", "signature", "group" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (!*json_text(finding, keys[i]))
			continue;
		buf_addf(out, "%s: ", keys[i]);
		xml_text(out, json_text(finding, keys[i]));
		buf_addch(out, '\n');
	}
	buf_adds(out, "files: ");
	xml_text(out, w->run->dir);
	buf_addch(out, '/');
	xml_text(out, json_text(finding, "folder"));
	buf_addch(out, '\n');
}

static void junit_add_case(void *to, const struct report_test *test)
{
	static const char *const elements[] = { "", "failure", "error", "skipped" };
	struct junit_writer *w = to;
	struct buf class = BUF_INIT;

	if (!w->target || strcmp(w->target, test->target)) {
		junit_end_suite(w);
		w->target = must_strdup(test->target);
	}
	buf_addf(&class, "assay.%s.%s", json_text(w->run->summary, "command"), test->target);
	w->tests++;
	w->by_fate[test->fate]++;
	buf_adds(&w->cases, "<testcase");
	xml_attribute(&w->cases, "classname", buf_str(&class));
	xml_attribute(&w->cases, "name", test->name);
	buf_free(&class);
	if (test->fate == REPORT_PASSED) {
		buf_adds(&w->cases, "/>\n");
		return;
	}
	buf_addf(&w->cases, "><%s", elements[test->fate]);
	xml_attribute(&w->cases, "message", test->why);
	if (test->finding) {
		xml_attribute(&w->cases, "type", json_text(test->finding, "code"));
		buf_adds(&w->cases, ">\n");
		junit_add_finding(w, test->finding, &w->cases);
		buf_addf(&w->cases, "</%s></testcase>\n", elements[test->fate]);
	} else {
		buf_adds(&w->cases, "/></testcase>\n");
	}
}

void report_junit(const struct report_run *runs, size_t count, struct buf *out)
{
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (size_t i = 0; i < count; i++) {
		struct junit_writer w = { .run = &runs[i], .cases = BUF_INIT, .out = out };

		report_tests(&runs[i], junit_add_case, &w);
		junit_end_suite(&w);
		buf_free(&w.cases);
	}
	buf_adds(out, "</testsuites>\n");
}
