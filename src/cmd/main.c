/* main.c -- from the command line to a subcommand, and from its result to an exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/must.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "gen/version.h"
#include "process/confine.h"
#include "run/run.h"
#include "run/run_meta.h"

static int print_text(struct buf *out)
{
	fputs(buf_str(out), stdout);
	buf_free(out);
	return EXIT_CLEAN;
}

static int unknown_command(const char *name)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	help_overview(&out);
	command_unknown(name, &err);
	fprintf(stderr, "assay: %s\n\n%s", err.text, out.data);
	buf_free(&out);
	return EXIT_USAGE;
}

/* A man page of the program, or of one command. */
static int print_man(const char *name)
{
	const struct command *c = name ? command_find(name) : NULL;
	struct buf out = BUF_INIT;

	if (name && !c)
		return unknown_command(name);
	if (c)
		help_man_command(c, &out);
	else
		help_man_overview(&out);
	return print_text(&out);
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
	} else if (strcmp(argv[1], "--completion") || argc != 3 ||
		   !help_completion(argv[2], &out)) {
		return unknown_command(argv[1]);
	}
	return print_text(&out);
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
		return print_text(&out);
	}
	run_finding_hook = terminal_show_finding;
	if (!terminal_take_options(c->opts, &argc, argv, &err) &&
	    !opt_parse(c->opts, c->settings, &argc, argv, &err)) {
		if (c->reads_only)
			confine_reader(NULL, 0);
		code = c->run(argc, argv, &err);
	}
	if (err.code)
		fprintf(stderr, "assay %s: %s\n", c->name, err.text);
	must(code >= 0 && !(err.code && code == EXIT_CLEAN));
	return code;
}

/* A file that is opened later must not become standard input, output or error. What was closed
 * still gives an error when it is read from or written to, but for standard error. */
static void open_standard_files(void)
{
	static const int access[] = { O_WRONLY, O_RDONLY, O_RDWR };

	for (int fd = 0; fd < (int)ARRAY_LEN(access); fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", access[fd]) < 0)
			return;
}

static void do_nothing(int number)
{
}

/* A closed pipe and a file beyond the size limit are errors of write(2) like any other. They are
 * not ignored, since programs that we start would inherit that. */
static void catch_write_signals(void)
{
	static const int signals[] = { SIGPIPE, SIGXFSZ };
	struct sigaction action = { .sa_handler = do_nothing, .sa_flags = SA_RESTART }, before;

	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		sigaction(signals[i], NULL, &before);
		if (before.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
}

/* Output that was lost must not look like a clean run. */
static int flush_output(int code)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "assay: cannot write the output: %s\n",
		errno ? strerror(errno) : "part of it is lost");
	return code == EXIT_CLEAN ? EXIT_UNKNOWN : code;
}

/* The program is compiled for instructions that every processor has had since 2009. */
static bool processor_suffices(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("sse4.2");
#else
	return true;
#endif
}

int main(int argc, char **argv)
{
	const struct command *c = argc > 1 ? command_find(argv[1]) : NULL;
	struct buf out = BUF_INIT;
	int code;

	open_standard_files();
	run_set_argv(argc, argv);
	catch_write_signals();
	if (!processor_suffices()) {
		fprintf(stderr, "assay: this processor lacks SSE4.2 or POPCNT; compile with "
				"CFLAGS_release=-O2\n");
		return EXIT_UNKNOWN;
	}
	if (c) {
		code = run_command(c, argc - 1, argv + 1);
	} else if (argc > 1) {
		code = argv[1][0] == '-' ? program_option(argc, argv) : unknown_command(argv[1]);
	} else {
		help_overview(&out);
		code = print_text(&out);
	}
	return flush_output(code);
}
