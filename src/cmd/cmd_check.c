/* cmd_check.c -- `assay check`: judges traces. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/files.h"
#include "history/check.h"
#include "trace/script.h"

static struct check_settings {
	int platform;
	const char *kernel, *user;
	struct opt_list traits;
	bool rules, json;
} settings = { .platform = PLATFORM_LINUX, .kernel = "6.18" };

static const struct opt opts[] = {
	{ .name = "platform",
	  .type = OPT_CHOICE,
	  .offset = offsetof(struct check_settings, platform),
	  .value = "posix|linux|macos|freebsd",
	  .help = "the platform whose rules apply" },
	{ .name = "kernel",
	  .type = OPT_TEXT,
	  .offset = offsetof(struct check_settings, kernel),
	  .value = "VERSION",
	  .help = "version of Linux; the published model describes 3.19" },
	{ .name = "trait",
	  .type = OPT_LIST,
	  .offset = offsetof(struct check_settings, traits),
	  .value = "NAME=VALUE",
	  .help = "a property of the file system, as in the description of a target" },
	{ .name = "user",
	  .type = OPT_TEXT,
	  .offset = offsetof(struct check_settings, user),
	  .value = "UID:GID",
	  .help = "user and group of process 1; default: root" },
	{ .name = "rules",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct check_settings, rules),
	  .help = "also prints the rules that forbid the observed outcome" },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct check_settings, json),
	  .help = "prints one JSON object instead" },
	OPT_END,
};

struct check_tally {
	unsigned traces, accepted, rejected, unknown, returns;
	json_t *mismatches; /* NULL without --json */
};

static const char *const reach_texts[] = {
	[REACH_OUTSIDE_POSIX] = "outside POSIX",
	[REACH_INSIDE_POSIX] = "inside POSIX, but not what the platform does",
};

static int prepare_checker(struct trace_checker *c, struct err *err)
{
	struct state_options start = { .fields = TREE_FIELDS_DEFAULT, .root_mode = 0777 };
	struct model model;
	struct version kernel;
	char rest;
	int error = version_parse(settings.kernel, &kernel, err);

	if (error)
		return error;
	model_init(&model, (enum platform)settings.platform, kernel);
	for (size_t i = 0; i < settings.traits.count && !error; i++)
		error = traits_assign(&model.traits, settings.traits.items[i], err);
	if (settings.user && sscanf(settings.user, "%u:%u%c", &start.uid, &start.gid, &rest) != 2)
		error = err_set(err, EINVAL, "--user %s: not UID:GID", settings.user);
	trace_checker_init(c, &model, &start);
	return error;
}

/* A dump is printed line by line, from the first that differs. */
static void print_dump(const struct mismatch *m)
{
	const char *seen = m->seen, *allowed = m->allowed;

	while (*seen && !strncmp(seen, allowed, strcspn(seen, "\n") + 1)) {
		allowed += strcspn(seen, "\n") + 1;
		seen += strcspn(seen, "\n") + 1;
	}
	printf("dump\n  first line that differs: %.*s\n  expected: %.*s\n",
	       (int)strcspn(seen, "\n"), seen, (int)strcspn(allowed, "\n"), allowed);
}

/* The calls that overlap with the one that nothing explains, as the trace has them. */
static void print_window(const struct script *trace, size_t at, const struct mismatch *m)
{
	struct script window = *trace;
	struct buf text = BUF_INIT;
	size_t from = at, calls = 0;

	for (; from && trace->items[from].line > m->window; from--)
		calls += trace->items[from].type == ITEM_CALL;
	if (!calls)
		return; /* but the one */
	window.items += from;
	window.count = at + 1 - from;
	script_print(&window, trace->dialect, &text);
	printf("  no order explains what overlaps here:\n");
	for (const char *line = buf_str(&text); *line; line += strcspn(line, "\n") + 1)
		printf("    %.*s\n", (int)strcspn(line, "\n"), line);
	buf_free(&text);
}

static void print_mismatch(const struct script *trace, size_t at, const struct mismatch *m)
{
	printf("%s:%u: ", trace->name, m->line);
	if (!strcmp(m->call, "dump")) {
		print_dump(m);
		return;
	}
	printf("%s = %s\n  allowed: %s\n  %s\n", m->call, m->seen, m->allowed,
	       reach_texts[m->reach]);
	for (unsigned i = 0; settings.rules && i < m->rule_count; i++)
		printf("  %s: %s\n", rule_table[m->rules[i]].name, rule_table[m->rules[i]].text);
	print_window(trace, at, m);
}

static json_t *mismatch_json(const char *path, const struct mismatch *m)
{
	json_t *rules = json_array();

	for (unsigned i = 0; i < m->rule_count; i++)
		json_array_append_new(rules, json_string(rule_table[m->rules[i]].name));
	return json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:o}", "path", path, "line",
			 (int)m->line, "window", (int)m->window, "call", m->call, "seen", m->seen,
			 "allowed", m->allowed, "reach",
			 m->reach == REACH_INSIDE_POSIX ? "inside-posix" : "outside-posix", "rules",
			 rules);
}

static void report_mismatch(struct check_tally *t, const struct script *trace, size_t at,
			    const struct mismatch *m)
{
	if (t->mismatches)
		json_array_append_new(t->mismatches, mismatch_json(trace->name, m));
	else
		print_mismatch(trace, at, m);
}

static void check_trace(struct trace_checker *c, const struct script *trace, struct check_tally *t)
{
	enum verdict worst = VERDICT_OK, verdict;
	struct mismatch mismatch;

	trace_checker_begin(c);
	for (size_t i = 0; i < trace->count; i++) {
		must_note("check %s:%u", trace->name, trace->items[i].line);
		verdict = trace_checker_item(c, trace, i, &mismatch);
		t->returns += trace->items[i].type == ITEM_RETURN;
		if (verdict == VERDICT_BAD)
			report_mismatch(t, trace, i, &mismatch);
		if (verdict > worst)
			worst = verdict;
	}
	t->traces++;
	t->accepted += worst == VERDICT_OK;
	t->unknown += worst == VERDICT_UNKNOWN;
	t->rejected += worst == VERDICT_BAD;
}

static int check_trace_file(struct trace_checker *c, struct script *trace, const char *path,
			    struct check_tally *t, struct err *err)
{
	int error = script_read(trace, path, err);

	if (error)
		return error;
	if (!trace->is_trace)
		return err_set(err, EINVAL,
			       "%s: a script without outcomes; assay run makes a trace", path);
	check_trace(c, trace, t);
	return 0;
}

static void print_tally(struct check_tally *t, double seconds)
{
	const char *verdict = t->rejected ? "bad" : t->unknown ? "unknown" : "ok";
	json_t *object;

	if (!t->mismatches) {
		printf("%u %s: %u accepted, %u rejected, %u undefined by the platform\n", t->traces,
		       t->traces == 1 ? "trace" : "traces", t->accepted, t->rejected, t->unknown);
		return;
	}
	object = json_pack("{s:s, s:s, s:f, s:i, s:i, s:i, s:i, s:i, s:o}", "command", "check",
			   "verdict", verdict, "seconds", seconds, "traces", (int)t->traces,
			   "accepted", (int)t->accepted, "rejected", (int)t->rejected, "unknown",
			   (int)t->unknown, "calls", (int)t->returns, "mismatches", t->mismatches);
	json_dumpf(object, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(object);
}

static int check_traces(struct trace_checker *c, const struct input_files *files, struct err *err)
{
	struct check_tally t = { .mismatches = settings.json ? json_array() : NULL };
	struct script trace = { 0 };
	double start = clock_seconds();
	int error = 0;

	for (size_t i = 0; i < files->count && !error; i++)
		error = check_trace_file(c, &trace, files->paths[i], &t, err);
	script_free(&trace);
	if (error) {
		json_decref(t.mismatches);
		return EXIT_USAGE;
	}
	print_tally(&t, clock_seconds() - start);
	return t.rejected ? EXIT_FINDINGS : t.unknown ? EXIT_UNKNOWN : EXIT_CLEAN;
}

static int run_check(int argc, char **argv, struct err *err)
{
	struct input_files files = { 0 };
	struct trace_checker checker = { 0 };
	int code = EXIT_USAGE;

	if (argc < 2)
		err_set(err, EINVAL, "which trace?");
	else if (!prepare_checker(&checker, err) && !files_expand(&files, argv + 1, ".trace", err))
		code = check_traces(&checker, &files, err);
	trace_checker_free(&checker);
	files_free(&files);
	return code;
}

const struct command command_check = {
	.name = "check",
	.usage = "TRACE...",
	.summary = "check traces against the model",
	.text = "Runs each trace through the model and prints every outcome that the model does\n"
		"not allow, together with the allowed outcomes. A directory means all files\n"
		"below it that end in _.trace_. After a mismatch, the check continues from an\n"
		"allowed outcome.\n"
		"\n"
		"Calls may overlap: a process calls before the call of another process has\n"
		"returned. Some order of their effects must explain all outcomes.\n"
		"\n"
		"An outcome that the platform does not have may still be allowed by POSIX; the\n"
		"report says so. After an outcome that the platform leaves undefined, the state\n"
		"is unknown and mismatches no longer count.\n"
		"\n"
		"Exit status: 0 all traces were accepted, 1 a trace was rejected, 2 no trace\n"
		"was rejected but one is undefined.",
	.opts = opts,
	.settings = &settings,
	.reads_only = true,
	.run = run_check,
};
