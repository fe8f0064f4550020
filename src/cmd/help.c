/* help.c -- help, man pages and completion, all from the commands' rows. */
#include "cmd/help.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "base/opt.h"
#include "base/scdoc.h"
#include "base/wrap.h"
#include "cli/command.h"
#include "cli/table.h"

static const char about[] = "finds bugs in file systems";

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

void help_overview(struct buf *out)
{
	buf_addf(out, "assay -- %s.\n\n", about);
	buf_adds(out, "Usage: assay COMMAND [OPTIONS] [OPERANDS]\n\nCommands:\n");
	for (size_t i = 0; i < command_count; i++)
		buf_addf(out, "  %-10s  %s\n", command_table[i]->name, command_table[i]->summary);
	buf_adds(
		out,
		"\n`assay help COMMAND` prints its options; `assay --version` prints the version.\n"
		"Exit status:");
	for (size_t i = 0; i < ARRAY_LEN(exit_codes); i++)
		buf_addf(out, "%s %d %s", i ? "," : "", exit_codes[i].code, exit_codes[i].meaning);
	buf_adds(out, ".\n");
}

static bool has_options(const struct command *c)
{
	return c->opts && c->opts->name;
}

static void add_usage(const struct command *c, struct buf *out)
{
	buf_addf(out, "assay %s%s", c->name, has_options(c) ? " [OPTIONS]" : "");
	if (c->usage && *c->usage)
		buf_addf(out, " %s", c->usage);
}

static void add_help_text(const char *text, struct buf *out)
{
	struct buf plain = BUF_INIT;

	scdoc_plain(text, &plain);
	wrap_text(buf_str(&plain), out);
	buf_free(&plain);
}

void help_command(const struct command *c, struct buf *out)
{
	static const char usage_label[] = "Usage: ";
	struct buf usage = BUF_INIT;

	buf_addf(out, "assay %s -- %s.\n\n%s", c->name, c->summary, usage_label);
	add_usage(c, &usage);
	wrap_words(usage.data, strlen(usage_label), out);
	if (c->text && *c->text) {
		buf_addch(out, '\n');
		add_help_text(c->text, out);
	}
	if (has_options(c)) {
		buf_adds(out, "\nOptions:\n");
		opt_help(c->opts, c->settings, out);
	}
	buf_free(&usage);
}

void help_man_overview(struct buf *out)
{
	buf_addf(out, "assay(1)\n\n# NAME\n\nassay - %s\n\n", about);
	buf_adds(out, "# SYNOPSIS\n\n*assay* _COMMAND_ \\[_OPTIONS_\\] \\[_OPERANDS_\\]\n\n"
		      "# COMMANDS\n\n");
	for (size_t i = 0; i < command_count; i++) {
		buf_addf(out, "*assay-%s*(1)\n\t", command_table[i]->name);
		scdoc_escape(command_table[i]->summary, out);
		buf_adds(out, ".\n\n");
	}
	buf_adds(out, "# OPTIONS\n\n*--version*\n\tPrints the version.\n\n"
		      "*--completion* _bash_\n\tPrints a completion script.\n\n# EXIT STATUS\n\n");
	for (size_t i = 0; i < ARRAY_LEN(exit_codes); i++)
		buf_addf(out, "*%d*\n\t%s.\n\n", exit_codes[i].code, exit_codes[i].meaning);
}

void help_man_command(const struct command *c, struct buf *out)
{
	struct buf usage = BUF_INIT;

	add_usage(c, &usage);
	buf_addf(out, "assay-%s(1)\n\n# NAME\n\nassay-%s - %s\n\n# SYNOPSIS\n\n", c->name, c->name,
		 c->summary);
	scdoc_escape(usage.data, out);
	buf_addf(out, "\n\n# DESCRIPTION\n\n%s\n\n", c->text && *c->text ? c->text : c->summary);
	if (has_options(c)) {
		buf_adds(out, "# OPTIONS\n\n");
		opt_scdoc(c->opts, c->settings, out);
	}
	buf_adds(out, "# SEE ALSO\n\n*assay*(1)\n");
	buf_free(&usage);
}

void help_completion_bash(struct buf *out)
{
	buf_adds(out, "_assay()\n{\n"
		      "\tlocal word=${COMP_WORDS[COMP_CWORD]} words=\n"
		      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n\t\twords='");
	for (size_t i = 0; i < command_count; i++)
		buf_addf(out, "%s%s", i ? " " : "", command_table[i]->name);
	buf_adds(out, "'\n\telif [[ $word == -* ]]; then\n\t\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < command_count; i++) {
		if (!has_options(command_table[i]))
			continue;
		buf_addf(out, "\t\t%s) words='", command_table[i]->name);
		opt_completion(command_table[i]->opts, out);
		buf_adds(out, "' ;;\n");
	}
	buf_adds(out, "\t\tesac\n\tfi\n"
		      "\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
		      "complete -o default -F _assay assay\n");
}
