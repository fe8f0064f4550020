/* cmd_help.c -- `assay help`: the overview, or one command's help. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/table.h"

static struct help_settings {
	int completion; /* 0: none */
} settings;

static const struct opt opts[] = {
	{ "completion", OPT_CHOICE, offsetof(struct help_settings, completion),
	  "none|bash|zsh|fish",
	  "print a completion script for this shell, which knows targets, profiles and strategies",
	  0, 0 },
	OPT_END,
};

static int run_help(int argc, char **argv, struct err *err)
{
	static const char *const shells[] = { "", "bash", "zsh", "fish" };
	const struct command *c = argc > 1 ? command_find(argv[1]) : NULL;
	struct buf out = BUF_INIT;

	if (argc > 2 || (argc == 2 && !c)) {
		command_unknown(argv[argc - 1], err);
		return EXIT_USAGE;
	}
	if (settings.completion)
		help_completion(shells[settings.completion], &out);
	else if (c)
		help_command(c, &out);
	else
		help_overview(&out);
	fputs(buf_str(&out), stdout);
	buf_free(&out);
	return EXIT_CLEAN;
}

const struct command command_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "list the commands, or the options of a command",
	.text = "Without an operand, lists the commands. With the name of a command, prints the\n"
		"same as *assay* _COMMAND_ *--help*.",
	.opts = opts,
	.settings = &settings,
	.run = run_help,
};
