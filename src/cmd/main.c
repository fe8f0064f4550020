/* main.c -- from the command line to a subcommand, and from its result to an exit status. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/confine.h"
#include "base/must.h"
#include "cmd/command.h"
#include "cmd/help.h"
#include "cmd/table.h"
#include "gen/version.h"

static int print(struct buf *out)
{
	fputs(buf_str(out), stdout);
	buf_free(out);
	return EXIT_CLEAN;
}

/* A man page of the program, or of one command. */
static int print_man(const char *name)
{
	const struct command *c = name ? command_find(name) : NULL;
	struct buf out = BUF_INIT;

	if (name && !c) {
		fprintf(stderr, "assay: %s: no such command\n", name);
		return EXIT_USAGE;
	}
	if (c)
		help_man_command(c, &out);
	else
		help_man_overview(&out);
	return print(&out);
}

static int unknown_command(const char *name)
{
	const struct command *near = command_nearest(name);
	struct buf out = BUF_INIT;

	help_overview(&out);
	fprintf(stderr, "assay: %s: no such command", name);
	if (near)
		fprintf(stderr, "; did you mean %s?", near->name);
	fprintf(stderr, "\n\n%s", out.data);
	buf_free(&out);
	return EXIT_USAGE;
}

/* What begins with a dash where a command is expected. */
static int program_option(int argc, char **argv)
{
	struct buf out = BUF_INIT;

	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help_overview(&out);
	} else if (!strcmp(argv[1], "--version")) {
		buf_adds(&out, "assay " ASSAY_VERSION "\n");
	} else if (!strcmp(argv[1], "--man")) {
		return print_man(argv[2]);
	} else if (!strcmp(argv[1], "--completion") && argc == 3 && !strcmp(argv[2], "bash")) {
		help_completion_bash(&out);
	} else {
		return unknown_command(argv[1]);
	}
	return print(&out);
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return true;
	return false;
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	int code = EXIT_USAGE;

	if (wants_help(argc, argv)) {
		help_command(c, &out);
		return print(&out);
	}
	if (!opt_parse(c->opts, c->settings, &argc, argv, &err)) {
		if (c->reads_only)
			confine_reader(NULL, 0);
		code = c->run(argc, argv, &err);
	}
	if (err.code)
		fprintf(stderr, "assay %s: %s\n", c->name, err.text);
	must(code >= 0 && !(err.code && code == EXIT_CLEAN));
	return code;
}

int main(int argc, char **argv)
{
	const struct command *c = argc > 1 ? command_find(argv[1]) : NULL;
	struct buf out = BUF_INIT;
	int code;

	if (c) {
		code = run_command(c, argc - 1, argv + 1);
	} else if (argc > 1) {
		code = argv[1][0] == '-' ? program_option(argc, argv) : unknown_command(argv[1]);
	} else {
		help_overview(&out);
		code = print(&out);
	}
	/* A full disk must not look like a clean run. */
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "assay: cannot write the output: %s\n", strerror(errno));
		return EXIT_INTERNAL;
	}
	return code;
}
