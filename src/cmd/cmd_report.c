/* cmd_report.c -- `assay report RUN...`: pages made again from runs' directories. */
#include <errno.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/operands.h"
#include "process/confine.h"
#include "report/report.h"

static const struct opt opts[] = { OPT_END };

static int run_report(int argc, char **argv, struct err *err)
{
	if (argc < 2) {
		err_set(err, EINVAL, "expected the directory of a run");
		return EXIT_USAGE;
	}
	confine_reader((const char *const *)argv + 1, (size_t)argc - 1);
	for (int i = 1; i < argc; i++) {
		int status = report_write(argv[i], err);

		if (status)
			return operand_code(status);
		printf("%s/report.html\n", argv[i]);
	}
	return EXIT_CLEAN;
}

const struct command command_report = {
	.name = "report",
	.usage = "RUN...",
	.summary = "write the HTML reports of runs again",
	.text = "Writes _RUN_/report.html again from the run directory: verdict, figures,\n"
		"findings with traces and reproducers, coverage. Every run writes it at its\n"
		"end.",
	.opts = opts,
	.run = run_report,
};
