/* tap.c -- runs as the Test Anything Protocol, version 13. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/json.h"
#include "report/formats.h"

struct tap_writer {
	const struct report_run *run;
	size_t tests;
	struct buf lines;
};

/* On one line; '#' begins a directive there. */
static void tap_add_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '#' || c == '\\')
			buf_addch(out, '\\');
		buf_addch(out, c >= ' ' ? *text : '?');
	}
}

static void tap_add_detail(const struct tap_writer *w, const struct report_test *test,
			   struct buf *out)
{
	json_t *text = json_string(json_text(test->finding, "signature"));
	char *quoted = json_dumps(text, JSON_ENCODE_ANY);
	json_t *folder = json_sprintf("%s/%s", w->run->dir, json_text(test->finding, "folder"));
	char *files = json_dumps(folder, JSON_ENCODE_ANY);

	buf_addf(out, "  ---\n  severity: %s\n  signature: %s\n  files: %s\n  ...\n",
		 json_text(test->finding, "severity"), quoted ? quoted : "\"\"",
		 files ? files : "\"\"");
	json_decref(text);
	json_decref(folder);
	free(quoted);
	free(files);
}

static void tap_add(void *to, const struct report_test *test)
{
	struct tap_writer *w = to;
	bool good = test->fate == REPORT_PASSED || test->fate == REPORT_NOT_RUN;

	buf_addf(&w->lines, "%sok %zu - ", good ? "" : "not ", ++w->tests);
	tap_add_text(&w->lines, json_text(w->run->summary, "command"));
	buf_addch(&w->lines, ' ');
	tap_add_text(&w->lines, test->target);
	if (test->finding) {
		buf_adds(&w->lines, ": ");
		tap_add_text(&w->lines, test->name);
	}
	if (test->fate == REPORT_NOT_RUN)
		buf_adds(&w->lines, " # SKIP ");
	else if (test->fate == REPORT_UNKNOWN)
		buf_adds(&w->lines, ": ");
	if (test->fate == REPORT_NOT_RUN || test->fate == REPORT_UNKNOWN)
		tap_add_text(&w->lines, test->why);
	buf_addch(&w->lines, '\n');
	if (test->finding)
		tap_add_detail(w, test, &w->lines);
}

void report_tap(const struct report_run *runs, size_t count, struct buf *out)
{
	struct tap_writer w = { .lines = BUF_INIT };

	for (size_t i = 0; i < count; i++) {
		w.run = &runs[i];
		report_tests(&runs[i], tap_add, &w);
	}
	buf_addf(out, "TAP version 13\n1..%zu\n%s", w.tests, buf_str(&w.lines));
	buf_free(&w.lines);
}
