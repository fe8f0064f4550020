/* command.h -- what a subcommand is.
 *
 * src/cmd/cmd_X.c defines `command_X`; the build makes the list. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>

#include "base/err.h"
#include "settings/opt.h"

enum exit_code {
	EXIT_CLEAN = 0,
	EXIT_FINDINGS = 1,
	EXIT_UNKNOWN = 2, /* could not tell */
	EXIT_USAGE = 64,
	EXIT_INTERNAL = 70,
};

struct command_parts;

struct command {
	const char *name;
	const char *usage;   /* operands: "SCRIPT --on DIR" */
	const char *summary; /* one line for the overview */
	const char *text;    /* paragraphs for help and man page, scdoc markup */
	const struct opt *opts;
	void *settings;  /* holds the defaults */
	bool reads_only; /* it reads untrusted files and writes none (base/confine.h) */
	const struct command_parts *parts; /* how its work is divided; NULL: it is not (parts.h) */
	/* argv[0] is the command's name, options are already taken out. Returns an exit code;
	 * when err is filled main prints it as "assay NAME: text". */
	int (*run)(int argc, char **argv, struct err *err);
};

#endif
