/* help.c -- help, man pages and completion, all from the commands' rows. */
#include "cli/help.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/must.h"
#include "base/wrap.h"
#include "checker/checker_program.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/man_sections.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "settings/opt.h"
#include "settings/scdoc.h"
#include "universe/universe.h"

static const char about[] = "finds bugs in file systems";

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
	man_exit_codes(out);
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
	buf_adds(out, "\nOptions of every command: --color auto|always|never, --quiet, --verbose;\n"
		      "assay(1) explains them.\n");
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
	buf_adds(out,
		 "# OPTIONS\n\n*--version*\n\tPrints the version.\n\n"
		 "*--completion* _SHELL_\n\tPrints a completion script for bash, zsh or fish.\n\n");
	buf_adds(out, "# OPTIONS OF EVERY COMMAND\n\n");
	opt_scdoc(terminal_opts, terminal_settings, out);
	man_sections(NULL, out);
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
	man_sections(c, out);
	buf_adds(out, "# SEE ALSO\n\n*assay*(1)\n");
	buf_free(&usage);
}

static void names_as_words(struct buf *names)
{
	for (size_t i = 0; i < names->len; i++)
		if (!names->data[i])
			names->data[i] = ' ';
}

bool help_completion(const char *shell, struct buf *out)
{
	struct buf checkers = BUF_INIT, profiles = BUF_INIT;
	struct completion_lists lists;
	struct err err = { 0 };
	bool known = true;

	checker_program_names(NULL, &checkers, &err);
	names_as_words(&checkers);
	for (size_t i = 0; universe_profiles[i]; i++)
		buf_addf(&profiles, "%s%s", i ? " " : "", universe_profiles[i]);
	lists = (struct completion_lists){ buf_str(&checkers), buf_str(&profiles) };
	if (!strcmp(shell, "bash"))
		completion_bash(&lists, out);
	else if (!strcmp(shell, "zsh"))
		completion_zsh(&lists, out);
	else if (!strcmp(shell, "fish"))
		completion_fish(&lists, out);
	else
		known = false;
	buf_free(&checkers);
	buf_free(&profiles);
	return known;
}
