/* man_sections.c -- the sections of manual pages besides the options. */
#include "cli/man_sections.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "settings/scdoc.h"

struct man_row {
	const char *command, *item, *meaning;
};

static const struct man_row examples[] = {
#define EXAMPLE(command, line, meaning) { #command, line, meaning },
#define FILE(command, path, meaning)
#include "cli/man_sections.def"
#undef EXAMPLE
#undef FILE
};

static const struct man_row files[] = {
#define EXAMPLE(command, line, meaning)
#define FILE(command, path, meaning) { #command, path, meaning },
#include "cli/man_sections.def"
#undef EXAMPLE
#undef FILE
};

/* Of commands that have an option of this name; "": of all. */
static const struct {
	const char *option;
	struct man_row row;
} common_files[] = {
	{ "out",
	  { NULL, "runs/TIME-COMMAND-TARGET",
	    "The directory of a run, DIR below, where --out names none. runs/latest leads to the "
	    "newest." } },
	{ "out",
	  { NULL, "DIR/run.json, DIR/report.html",
	    "Verdict, figures and findings, for programs and as a page." } },
	{ "out",
	  { NULL, "DIR/findings/NNN-CODE",
	    "A finding: README.md, trace, repro.c and what else shows it." } },
	{ "config",
	  { NULL, "/etc/assay/targets.ini, ~/.config/assay/targets.ini",
	    "Descriptions of targets besides the shipped ones." } },
	{ "",
	  { NULL, "/etc/assay, ~/.config/assay",
	    "Descriptions of targets (targets.ini) and checkers (checkers.ini)." } },
};

static const struct man_row environment[] = {
	{ NULL, "NO_COLOR", "If it is set and not empty, the output has no colours." },
	{ NULL, "TERM", "On a terminal that is *dumb* there is no progress line and no colour." },
	{ NULL, "XDG_CACHE_HOME", "Where kernels in a process are kept; default: ~/.cache." },
	{ NULL, "XDG_CONFIG_HOME", "Where descriptions of the user are; default: ~/.config." },
	{ NULL, "TMPDIR", "Where temporary files are made." },
	{ NULL, "PATH", "Where programs that make and check file systems are looked for." },
};

static const struct {
	int code;
	const char *meaning;
} exit_codes[] = {
	{ EXIT_CLEAN, "clean" },
	{ EXIT_FINDINGS, "findings" },
	{ EXIT_UNKNOWN, "could not tell" },
	{ EXIT_USAGE, "the command line or an input file is wrong" },
	{ EXIT_INTERNAL, "internal error" },
};

void man_exit_codes(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(exit_codes); i++)
		buf_addf(out, "%s %d %s", i ? "," : "", exit_codes[i].code, exit_codes[i].meaning);
}

static void add_row(const struct man_row *row, struct buf *out)
{
	buf_addch(out, '*');
	scdoc_escape(row->item, out);
	buf_addf(out, "*\n\t%s\n\n", row->meaning);
}

static void add_examples(const struct command *c, struct buf *out)
{
	size_t count = 0;

	buf_adds(out, "# EXAMPLES\n\n");
	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		if (strcmp(examples[i].command, c->name))
			continue;
		add_row(&examples[i], out);
		count++;
	}
	if (!count) {
		buf_addf(out, "*assay %s ", c->name);
		scdoc_escape(c->usage ? c->usage : "", out);
		buf_adds(out, "*\n\n");
	}
}

static bool has_option(const struct command *c, const char *name)
{
	for (const struct opt *o = c->opts; o && o->name; o++)
		if (!strcmp(o->name, name))
			return true;
	return !*name;
}

static void add_files(const struct command *c, struct buf *out)
{
	buf_adds(out, "# FILES\n\n");
	for (size_t i = 0; i < ARRAY_LEN(common_files); i++)
		if (c ? has_option(c, common_files[i].option) : !*common_files[i].option)
			add_row(&common_files[i].row, out);
	for (size_t i = 0; c && i < ARRAY_LEN(files); i++)
		if (!strcmp(files[i].command, c->name))
			add_row(&files[i], out);
}

void man_sections(const struct command *c, struct buf *out)
{
	if (c)
		add_examples(c, out);
	add_files(c, out);
	buf_adds(out, "# ENVIRONMENT\n\n");
	for (size_t i = 0; i < ARRAY_LEN(environment); i++)
		add_row(&environment[i], out);
	buf_adds(out, "# EXIT STATUS\n\n");
	for (size_t i = 0; i < ARRAY_LEN(exit_codes); i++)
		buf_addf(out, "*%d*\n\t%s.\n\n", exit_codes[i].code, exit_codes[i].meaning);
	if (c && !strcmp(c->name, "cover"))
		buf_adds(out, "Any other status, and 1 and 2 as well, may be that of the traced "
			      "command.\n\n");
}
