/* cmd_compare.c -- `assay compare RUN...`: runs side by side, or what is new since one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/operands.h"
#include "cli/run_argument.h"
#include "gen/version.h"
#include "process/confine.h"
#include "report/compare_page.h"

static struct compare_settings {
	const char *since, *html;
	bool json;
} settings;

static const struct opt opts[] = {
	{ "since", OPT_TEXT, offsetof(struct compare_settings, since), "RUN",
	  "an earlier run: prints what is new since then, gone, not run, and still there", 0, 0 },
	{ "html", OPT_TEXT, offsetof(struct compare_settings, html), "FILE",
	  "also writes a page with the runs' curves over time, findings and figures", 0, 0 },
	{ "json", OPT_FLAG, offsetof(struct compare_settings, json), NULL,
	  "print the result as one JSON object", 0, 0 },
	OPT_END,
};

static void compare_show(const json_t *result, void (*print)(const json_t *, struct buf *))
{
	struct buf out = BUF_INIT;

	if (settings.json) {
		json_dumpf(result, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print(result, &out);
		fputs(buf_str(&out), stdout);
	}
	buf_free(&out);
}

static int compare_write_page(const struct report_run *runs, size_t count, const json_t *result,
			      struct err *err)
{
	struct buf page = BUF_INIT;
	int status;

	compare_page(runs, count, json_deep_copy(json_object_get(result, "findings")),
		     compare_figures(result), ASSAY_VERSION, &page);
	status = buf_write_file(&page, settings.html, err);
	if (!status && !settings.json)
		printf("page: %s\n", settings.html);
	buf_free(&page);
	return status ? EXIT_UNKNOWN : EXIT_CLEAN;
}

static int compare_side_by_side(const struct report_run *runs, size_t count, struct err *err)
{
	json_t *result = compare_runs(runs, count);
	int code = EXIT_CLEAN;

	compare_show(result, compare_print);
	if (settings.html)
		code = compare_write_page(runs, count, result, err);
	json_decref(result);
	return code;
}

/* New findings are findings; what was there before and was not looked at is not known. */
static int compare_with_before(const struct report_run *runs, size_t count, struct err *err)
{
	struct report_run *before = must_alloc(sizeof(*before));
	int code = operand_code(run_arguments_read(before, 1, (char **)&settings.since, err));
	json_t *result;

	if (code == EXIT_CLEAN) {
		result = compare_since(before, runs, count);
		compare_show(result, compare_print_since);
		if (json_array_size(json_object_get(result, "new")))
			code = EXIT_FINDINGS;
		else if (json_array_size(json_object_get(result, "not_run")))
			code = EXIT_UNKNOWN;
		json_decref(result);
	}
	run_arguments_free(before, 1);
	return code;
}

/* Runs may come from anyone: nothing is written but the page, into its directory. */
static void compare_confine(void)
{
	const char *slash = settings.html ? strrchr(settings.html, '/') : NULL;
	struct buf dir = BUF_INIT;
	const char *writable;

	buf_add(&dir, slash ? settings.html : "./",
		slash ? (size_t)(slash - settings.html) + 1 : 2);
	writable = buf_str(&dir);
	confine_reader(&writable, settings.html != NULL);
	buf_free(&dir);
}

static int run_compare(int argc, char **argv, struct err *err)
{
	struct report_run *runs;
	int code;

	if (argc < 2) {
		err_set(err, EINVAL, "expected directories of runs");
		return EXIT_USAGE;
	}
	if (settings.since && settings.html) {
		err_set(err, EINVAL, "either --since or --html");
		return EXIT_USAGE;
	}
	code = operand_new_file(settings.html, err);
	if (code != EXIT_CLEAN)
		return code;
	compare_confine();
	runs = must_alloc((size_t)argc * sizeof(*runs));
	code = operand_code(run_arguments_read(runs, argc - 1, argv + 1, err));
	if (code == EXIT_CLEAN)
		code = settings.since ? compare_with_before(runs, (size_t)argc - 1, err)
				      : compare_side_by_side(runs, (size_t)argc - 1, err);
	run_arguments_free(runs, (size_t)argc - 1);
	return code;
}

const struct command command_compare = {
	.name = "compare",
	.usage = "RUN...",
	.summary = "show runs side by side, or what is new since an earlier one",
	.text = "Prints the figures of runs as a table, one column for each: strategies, seeds,\n"
		"kernels or versions side by side. Below it are all findings, each once, with\n"
		"the runs that have it. A finding is known by its target and its signature.\n"
		"With *--html*, a self-contained page has the same, and the curves of the runs\n"
		"over time: states, inputs and outcomes reached, findings.\n"
		"\n"
		"With *--since*, prints which findings are new, which are gone, and which were\n"
		"not looked for, because no run judged their target. The exit status is then 1 if\n"
		"there are new ones, 2 if there are none but some were not looked for, else 0.",
	.opts = opts,
	.settings = &settings,
	.run = run_compare,
};
