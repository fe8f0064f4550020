/* cmd_report.c -- `assay report RUN...`: pages made again from runs' directories, and what other
 * programs read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "cli/run_argument.h"
#include "gen/version.h"
#include "process/confine.h"
#include "report/formats.h"
#include "report/report.h"

enum report_as { AS_HTML, AS_SARIF, AS_JUNIT, AS_TAP };

static struct report_settings {
	int as; /* enum report_as */
	const char *out;
} settings;

static const struct opt opts[] = {
	{ "as", OPT_CHOICE, offsetof(struct report_settings, as), "html|sarif|junit|tap",
	  "the format; html is written to each run, the others are one document of all runs", 0,
	  0 },
	{ "out", OPT_TEXT, offsetof(struct report_settings, out), "FILE",
	  "the file for that document; default: standard output", 0, 0 },
	OPT_END,
};

static int report_pages(int argc, char **argv, struct err *err)
{
	confine_reader((const char *const *)argv + 1, (size_t)argc - 1);
	for (int i = 1; i < argc; i++) {
		int status = report_write(argv[i], err);

		if (status)
			return operand_code(status);
		printf("%s/report.html\n", argv[i]);
	}
	return EXIT_CLEAN;
}

static int report_document(const struct report_run *runs, size_t count, struct err *err)
{
	struct buf out = BUF_INIT;
	int status = 0;

	if (settings.as == AS_SARIF)
		report_sarif(runs, count, ASSAY_VERSION, &out);
	else
		(settings.as == AS_JUNIT ? report_junit : report_tap)(runs, count, &out);
	if (settings.out)
		status = buf_write_file(&out, settings.out, err);
	else
		fputs(buf_str(&out), stdout);
	buf_free(&out);
	return status ? EXIT_UNKNOWN : EXIT_CLEAN;
}

static int run_report(int argc, char **argv, struct err *err)
{
	struct report_run *runs;
	int code;

	if (argc < 2 || (settings.out && settings.as == AS_HTML)) {
		err_set(err, EINVAL,
			argc < 2 ? "expected the directory of a run"
				 : "--out is for the other formats: a page is written to its run");
		return EXIT_USAGE;
	}
	if (settings.as == AS_HTML)
		return report_pages(argc, argv, err);
	code = operand_new_file(settings.out, err);
	if (code)
		return code;
	if (!settings.out)
		confine_reader(NULL, 0);
	runs = must_alloc((size_t)argc * sizeof(*runs));
	code = operand_code(run_arguments_read(runs, argc - 1, argv + 1, err));
	if (!code)
		code = report_document(runs, (size_t)argc - 1, err);
	run_arguments_free(runs, (size_t)argc - 1);
	return code;
}

const struct command command_report = {
	.name = "report",
	.usage = "RUN...",
	.summary = "write the reports of runs again, also as SARIF, JUnit or TAP",
	.text = "Writes _RUN_/report.html again from the run directory: verdict, figures,\n"
		"findings with traces and reproducers, coverage. Every run writes it at its\n"
		"end.\n"
		"\n"
		"With *--as*, prints the findings of all runs as one document for other programs:\n"
		"*sarif* (2.1.0) for code hosts, *junit* XML for CI servers, *tap* (version 13) "
		"for\n"
		"test harnesses. In JUnit and TAP a finding is a test that fails, and a target\n"
		"without findings one that passes; a target that could not be judged is an error,\n"
		"one that was not run is skipped. In SARIF what no replay has confirmed is a note.",
	.opts = opts,
	.settings = &settings,
	.run = run_report,
};
