/* cmd_cover.c -- `assay cover`: which inputs and outputs a file-system test exercises. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/operands.h"
#include "cli/summary.h"
#include "cover/live.h"
#include "cover/metrics.h"
#include "cover/readers.h"
#include "cover/space.h"
#include "process/confine.h"
#include "report/cover_text.h"
#include "run/run.h"
#include "suggest/suggest.h"

static struct cover_settings {
	struct opt_list mounts, labels;
	int read;  /* 0 or a reader + 1 */
	int paths; /* enum live_paths */
	bool compare, merge, suggest, json;
	const char *cwd, *out;
	double target;
} settings;

#define ROW(field) offsetof(struct cover_settings, field)

static const struct opt opts[] = {
	{ "mount", OPT_LIST, ROW(mounts), "DIR",
	  "mount point of the file system under test, or a directory: what lies below it counts. "
	  "May "
	  "be repeated",
	  0, 0 },
	{ "read", OPT_CHOICE, ROW(read), "none|strace|ftrace|ctf|trace",
	  "count the calls of a trace instead of running a command", 0, 0 },
	{ "paths", OPT_CHOICE, ROW(paths), "auto|walks|names",
	  "attribute calls on paths by the path walk of the kernel, or by the names in the path", 0,
	  0 },
	{ "cwd", OPT_TEXT, ROW(cwd), "DIR",
	  "initial working directory of the traced command, for relative paths", 0, 0 },
	{ "compare", OPT_FLAG, ROW(compare), NULL, "show coverage files side by side", 0, 0 },
	{ "suggest", OPT_FLAG, ROW(suggest), NULL,
	  "write a script for everything untested that the model knows a script for, with the "
	  "outcome that it expects",
	  0, 0 },
	{ "label", OPT_LIST, ROW(labels), "NAME",
	  "name of the measured test; with --compare one for each file, in order", 0, 0 },
	{ "merge", OPT_FLAG, ROW(merge), NULL, "merge coverage files", 0, 0 },
	{ "target", OPT_DOUBLE, ROW(target), "N",
	  "desired uses of every partition, for the deviation; 0: an even share of all "
	  "uses",
	  0, INT64_MAX },
	{ "out", OPT_TEXT, ROW(out), "DIR", "run directory; default: a new one in runs/", 0, 0 },
	{ "json", OPT_FLAG, ROW(json), NULL, "print the result as one JSON object", 0, 0 },
	OPT_END,
};

static json_t *cover_space(const struct cover_tool *tools, size_t count)
{
	const char *names[COVER_TOOLS_MAX];
	json_t *coverages[COVER_TOOLS_MAX];

	for (size_t i = 0; i < count; i++) {
		names[i] = tools[i].name;
		coverages[i] = tools[i].coverage;
	}
	return space_compare(names, coverages, count);
}

static void cover_print(const struct run *run, const struct cover_tool *tools, size_t count,
			const struct buf *suggested)
{
	struct buf text = BUF_INIT;

	if (settings.json) {
		summary_print(run);
		return;
	}
	if (count == 1)
		cover_text(&text, tools);
	else
		cover_text_compare(&text, tools, count);
	cover_text_space(&text, json_object_get(run->figures, "space"));
	printf("%s%s%s/report.html\n", buf_str(&text), buf_str(suggested), run->dir);
	buf_free(&text);
}

enum { SUGGESTIONS_SHOWN = 5 };

static void suggestions_print(const struct suggestions *s, const char *dir, struct buf *out)
{
	size_t missing = json_array_size(s->missing), filled = 0;

	for (size_t i = 0; i < s->count; i++)
		filled += json_array_size(s->items[i].gaps);
	buf_addf(out, "\n%zu scripts for %zu of %zu untested inputs and results: %s\n", s->count,
		 filled, filled + missing, dir);
	for (size_t i = 0; i < s->count && i < SUGGESTIONS_SHOWN; i++) {
		buf_addch(out, '\n');
		suggestion_trace(s, i, out);
	}
	if (s->count > SUGGESTIONS_SHOWN)
		buf_adds(out, "...\n");
	buf_adds(out, "\n`assay run SCRIPT --on DIR` executes one, `assay export SCRIPT --as "
		      "xfstests` makes it a test.\n");
}

/* Writes suggestions/ into the run directory, and names what has no script in the figures. */
static int cover_suggest(struct run *run, struct buf *text, struct err *err)
{
	json_t *space = json_object_get(run->figures, "space");
	struct suggestions s = { 0 };
	struct buf dir = BUF_INIT;
	struct model model;
	int r;

	model_init(&model, PLATFORM_LINUX, KERNEL_CURRENT);
	buf_addf(&dir, "%s/suggestions", run->dir);
	r = suggest(&s, json_object_get(space, "neither"), &model, err);
	if (!r)
		r = suggestions_write(&s, buf_str(&dir), err);
	if (!r)
		suggestions_print(&s, buf_str(&dir), text);
	json_object_set_new(run->figures, "suggested", json_integer((json_int_t)s.count));
	json_object_set(run->figures, "not_suggested", s.missing);
	suggestions_free(&s);
	buf_free(&dir);
	return r;
}

static bool cover_has_calls(const struct cover_tool *tools, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (json_object_size(json_object_get(tools[i].coverage, "output")))
			return true;
	return false;
}

/* Writes the run directory and prints the result; the measured values become the figures. */
static int cover_report(const char *target, json_t *figures, const struct cover_tool *tools,
			size_t count, struct err *err)
{
	struct buf suggested = BUF_INIT;
	struct run run;
	int r = run_open(&run, "cover", target, settings.out, 0, err);

	if (r)
		return EXIT_UNKNOWN;
	json_object_update(run.figures, figures);
	json_object_set_new(run.figures, "space", cover_space(tools, count));
	if (!cover_has_calls(tools, count)) {
		fprintf(stderr, "assay cover: warning: no call on %s was counted\n", target);
		run.verdict = VERDICT_UNKNOWN;
	}
	r = cover_write(figures, run.dir, err);
	if (!r && settings.suggest)
		r = cover_suggest(&run, &suggested, err);
	r = summary_write(&run, r, err);
	cover_print(&run, tools, count, &suggested);
	buf_free(&suggested);
	r = r ? EXIT_UNKNOWN : summary_code(&run, 0);
	run_free(&run);
	return r;
}

static int report_one(const char *target, json_t *coverage, struct err *err)
{
	const char *label = settings.labels.count ? settings.labels.items[0] : NULL;
	struct cover_tool tool = { label ? label : target, coverage };

	if (label)
		json_object_set_new(coverage, "label", json_string(label));
	metrics_add(coverage, settings.target);
	return cover_report(target, coverage, &tool, 1, err);
}

static void report_status(int status)
{
	if (WIFSIGNALED(status))
		fprintf(stderr, "assay cover: the command was killed by signal %d\n",
			WTERMSIG(status));
	else if (WEXITSTATUS(status))
		fprintf(stderr, "assay cover: the command exited with status %d\n",
			WEXITSTATUS(status));
}

/* What the command ended with is passed on, as a shell does it; but for an end that was asked for.
 */
static int exit_as_command(int code, int status)
{
	if (code == EXIT_USAGE || code == EXIT_INTERNAL || stop_requested)
		return code;
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : code;
}

static int run_live(char *const *command, struct err *err)
{
	struct live_options options = {
		.mounts = settings.mounts.items,
		.mount_count = settings.mounts.count,
		.command = command,
		.output_to_stderr = settings.json,
		.paths = (enum live_paths)settings.paths,
		.stop = &stop_requested,
	};
	int status = 0, code, r;
	struct coverage c;
	json_t *report;

	if (*live_missing()) {
		err_set(err, EOPNOTSUPP, "%s; " LIVE_INSTEAD, live_missing());
		return EXIT_UNKNOWN;
	}
	coverage_init(&c, "bpf");
	stop_catch_signals();
	r = live_trace(&c, &options, &status, err);
	code = operand_code(r);
	if (!r) {
		report_status(status);
		report = coverage_json(&c);
		json_object_set_new(report, "status", json_integer(status));
		code = exit_as_command(report_one(settings.mounts.items[0], report, err), status);
		json_decref(report);
	}
	coverage_free(&c);
	return code;
}

/* Files of others are read from now on; what is written is the run's. */
static void confine_to_output(void)
{
	const char *output = settings.out ? settings.out : ".";

	confine_reader(&output, 1);
}

static int operand_of_reader(const struct trace_reader *reader, const char *path, struct err *err)
{
	int code = operand_new_directory(settings.out, err);

	if (code || !strcmp(path, "-"))
		return code;
	return strcmp(reader->name, "ctf") ? operand_file(path, err) : operand_readable(path, err);
}

static int run_reader(const char *path, struct err *err)
{
	struct read_options options = {
		.mounts = settings.mounts.items,
		.mount_count = settings.mounts.count,
		.cwd = settings.cwd,
	};
	const struct trace_reader *reader = &readers[settings.read - 1];
	int code = operand_of_reader(reader, path, err), r;
	struct coverage c;
	json_t *report;

	if (code)
		return code;
	code = EXIT_UNKNOWN;
	confine_to_output();
	coverage_init(&c, reader->name);
	r = reader->read(&c, &options, path, err);
	if (!r && !c.understood)
		r = err_set(err, EINVAL, "%s has no call that --read %s recognises", path,
			    reader->name);
	if (!r) {
		report = coverage_json(&c);
		code = report_one(path, report, err);
		json_decref(report);
	}
	coverage_free(&c);
	return code;
}

/* "runs/x/coverage.json" is the tool x. */
static char *cover_tool_name(const char *path)
{
	static const char usual[] = "/coverage.json";
	size_t len = strlen(path), end = sizeof(usual) - 1;
	char *name = must_strdup(path), *slash;

	if (len > end && !strcmp(path + len - end, usual))
		name[len - end] = 0;
	slash = strrchr(name, '/');
	if (slash)
		memmove(name, slash + 1, strlen(slash));
	return name;
}

/* What --label says, what it was measured under, or what the file is called. */
static char *cover_tool_label(const json_t *coverage, const char *path, size_t at)
{
	const char *label = json_string_value(json_object_get(coverage, "label"));

	if (at < settings.labels.count)
		label = settings.labels.items[at];
	return label ? must_strdup(label) : cover_tool_name(path);
}

static int cover_tool_load(struct cover_tool *tool, const char *path, size_t at, struct err *err)
{
	tool->coverage = cover_load(path, err);
	if (!tool->coverage)
		return -EINVAL;
	tool->name = cover_tool_label(tool->coverage, path, at);
	metrics_add(tool->coverage, settings.target); /* our other instruments leave it to us */
	return 0;
}

static int report_compared(struct cover_tool *tools, size_t count, struct err *err)
{
	json_t *figures = json_object(), *by_name = json_object();
	int code;

	for (size_t i = 0; i < count; i++)
		json_object_set(by_name, tools[i].name, tools[i].coverage);
	json_object_set_new(figures, "tools", by_name);
	code = cover_report("compared", figures, tools, count, err);
	json_decref(figures);
	return code;
}

static int report_merged(struct cover_tool *tools, size_t count, struct err *err)
{
	for (size_t i = 1; i < count; i++)
		metrics_merge(tools[0].coverage, tools[i].coverage);
	metrics_add(tools[0].coverage, settings.target);
	return report_one("merged", tools[0].coverage, err);
}

/* Figures are kept by name. */
static int cover_tools_differ(const struct cover_tool *tools, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			if (!strcmp(tools[i].name, tools[j].name))
				return err_set(
					err, EINVAL,
					"two of the files are called %s: give each a --label",
					tools[i].name);
	return 0;
}

static int run_files(int count, char **paths, struct err *err)
{
	struct cover_tool tools[COVER_TOOLS_MAX] = { 0 };
	int r = 0, code = EXIT_USAGE;

	if (count > COVER_TOOLS_MAX) {
		err_set(err, EINVAL, "at most %d files", COVER_TOOLS_MAX);
		return EXIT_USAGE;
	}
	confine_to_output();
	for (int i = 0; !r && i < count; i++)
		r = cover_tool_load(&tools[i], paths[i], (size_t)i, err);
	if (!r && !settings.merge)
		r = cover_tools_differ(tools, (size_t)count, err);
	if (!r)
		code = (settings.merge ? report_merged : report_compared)(tools, (size_t)count,
									  err);
	for (int i = 0; i < count; i++) {
		free((char *)tools[i].name);
		json_decref(tools[i].coverage);
	}
	return code;
}

static int run_cover(int argc, char **argv, struct err *err)
{
	bool files = settings.compare || settings.merge;

	if (argc < 2) {
		err_set(err, EINVAL,
			files           ? "no file given"
			: settings.read ? "no trace given"
					: "no command given");
		return EXIT_USAGE;
	}
	if (files)
		return run_files(argc - 1, argv + 1, err);
	if (settings.mounts.count > TRACE_MOUNTS || (!settings.read && !settings.mounts.count)) {
		err_set(err, EINVAL, "no mount given: 1 to %d of --mount", TRACE_MOUNTS);
		return EXIT_USAGE;
	}
	return settings.read ? run_reader(argv[1], err) : run_live(argv + 1, err);
}

const struct command command_cover = {
	.name = "cover",
	.usage = "--mount DIR -- COMMAND... | --read FORMAT TRACE | --compare FILE...",
	.summary = "measure the input and output coverage of a test",
	.text = "Runs _COMMAND_ and counts the system calls that it and its child processes\n"
		"make on the file systems at _DIR_. For every argument it counts how often each\n"
		"flag, each size between powers of two and each choice was used. For every call\n"
		"it counts successes and returned errnos. Variants count for their base call:\n"
		"openat for open, pwrite64 for write.\n"
		"\n"
		"A BPF program counts in the kernel. Calls on descriptors are attributed\n"
		"exactly, even if the file system is remounted meanwhile. Calls on paths are\n"
		"attributed exactly if the kernel allows probes on its path walk. Otherwise\n"
		"they are attributed by the names in the path, without following symbolic\n"
		"links, and *exact* is false. *unattributed* and *lost* count the calls that\n"
		"could not be attributed or counted.\n"
		"\n"
		"With *--read* it counts a trace instead: *strace* text (best with -f -y -s 0),\n"
		"*ftrace* text of the system-call tracepoints (also of perf), *ctf* directories\n"
		"of LTTng, or *trace* files of Assay. Without *--mount* every call counts.\n"
		"\n"
		"With *--compare* and *--merge*, _FILE_ is the coverage.json of any run.\n"
		"*--compare* lists what only one of the tests tried, and what none did. The\n"
		"denominator is the same for all: every partition of every argument of every\n"
		"call, and every errno that manual pages name; a call that was never made has all\n"
		"of them untested.\n"
		"\n"
		"With *--suggest*, suggestions/ in the run directory has a script for each "
		"untested\n"
		"input or result that the model knows one for, with the expected outcome of each\n"
		"call. *assay run* executes such a script, *assay export* makes it a test of "
		"another\n"
		"suite.\n"
		"\n"
		"The exit status is that of _COMMAND_, 128 and the number of the signal if it was\n"
		"killed, where it is not 0. Otherwise it is 0, or 2 if no call on the file system\n"
		"was counted. So 1 and 2 may be the command's; *status* in run.json says which. An "
		"end\n"
		"that was asked for by a signal to Assay is not passed on.",
	.opts = opts,
	.settings = &settings,
	.run = run_cover,
};
