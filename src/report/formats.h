/* formats.h -- results of runs in the formats that other programs read: SARIF 2.1.0, JUnit XML and
 * TAP 13. All of it comes from run.json, so that every instrument has them. */
#ifndef REPORT_FORMATS_H
#define REPORT_FORMATS_H

#include <jansson.h>
#include <stddef.h>

struct buf;

struct report_run {
	const char *dir; /* as it was named */
	json_t *summary; /* its run.json */
};

/* One log; a run of Assay is one of its runs, a finding a result. */
void report_sarif(const struct report_run *runs, size_t count, const char *version,
		  struct buf *out);
/* A suite for each target of each run. A finding is a test that fails; a target without findings is
 * one that passes, one that could not be judged is an error, one that was not run is skipped. */
void report_junit(const struct report_run *runs, size_t count, struct buf *out);
/* The same tests. */
void report_tap(const struct report_run *runs, size_t count, struct buf *out);

/* Inside: one test of a run. */
enum report_fate { REPORT_PASSED, REPORT_FAILED, REPORT_UNKNOWN, REPORT_NOT_RUN };
struct report_test {
	const char *target, *name, *why; /* why: of all but passed */
	enum report_fate fate;
	const json_t *finding; /* of failed, else NULL */
};
/* Calls visit for every test of a run, target by target. */
void report_tests(const struct report_run *run,
		  void (*visit)(void *to, const struct report_test *test), void *to);

#endif
