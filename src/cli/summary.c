/* summary.c -- a run's result as it is printed and written at the end. */
#include "cli/summary.h"

#include <stdio.h>

#include "cli/command.h"
#include "report/report.h"

void summary_print(const struct run *run)
{
	json_t *summary = run_summary(run);

	json_dumpf(summary, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(summary);
}

int summary_write(struct run *run, int before, struct err *err)
{
	int closed, reported;

	run_gather(run);
	run_end(run);
	closed = run_close(run, err);
	reported = report_write(run->dir, err);
	if (before)
		return before;
	return closed ? closed : reported;
}

int summary_write_known(const struct run *run, const char *path, struct err *err)
{
	struct buf failures = BUF_INIT;
	int status;

	run_print_failures(run, &failures);
	status = run_write_known(run, path, &failures, err);
	buf_free(&failures);
	return status;
}

void summary_print_known(const struct run *run)
{
	struct buf text = BUF_INIT;

	known_report(&run->known, &text);
	fputs(buf_str(&text), stdout);
	buf_free(&text);
}

int summary_code(const struct run *run, int status)
{
	static const int codes[] = { EXIT_CLEAN, EXIT_UNKNOWN, EXIT_FINDINGS };

	return status < 0 && run->verdict == VERDICT_OK ? EXIT_UNKNOWN : codes[run->verdict];
}
