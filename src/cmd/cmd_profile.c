/* cmd_profile.c -- `assay profile`: the shipped universe profiles. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "universe/universe.h"

/* The first line of a profile says what it is: "# tiny -- few enough states". */
static void print_profile_summary(const char *name)
{
	const char *text = universe_profile_text(name), *dashes = strstr(text, " -- ");

	text = dashes ? dashes + strlen(" -- ") : "";
	printf("%-12s %.*s\n", name, (int)strcspn(text, "\n"), text);
}

static int run_profile(int argc, char **argv, struct err *err)
{
	const char *text;

	for (size_t i = 0; argc < 2 && universe_profiles[i]; i++)
		print_profile_summary(universe_profiles[i]);
	for (int i = 1; i < argc; i++) {
		text = universe_profile_text(argv[i]);
		if (!text) {
			universe_profile_unknown(argv[i], err);
			return EXIT_USAGE;
		}
		fputs(text, stdout);
	}
	return EXIT_CLEAN;
}

const struct command command_profile = {
	.name = "profile",
	.usage = "[NAME...]",
	.summary = "list the shipped profiles",
	.text = "Without an operand, lists the profiles that *--profile* accepts. With names,\n"
		"prints their text, which can be edited and passed to *--profile* as a file.",
	.reads_only = true,
	.run = run_profile,
};
