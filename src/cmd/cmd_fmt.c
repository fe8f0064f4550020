/* cmd_fmt.c -- `assay fmt`: scripts and traces in canonical form. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/command.h"
#include "trace/script.h"

/* Choices of --dialect; behind "keep" they are those of enum dialect. */
enum { KEEP, DIALECT_FIRST };

static struct {
	int dialect;
} settings;

static const struct opt opts[] = {
	{ .name = "dialect",
	  .type = OPT_CHOICE,
	  .offset = offsetof(typeof(settings), dialect),
	  .value = "keep|native|published",
	  .help = "dialect to print; default: the dialect of each file" },
	OPT_END,
};

static int read_script(struct script *s, const char *path, struct err *err)
{
	struct buf text = BUF_INIT;
	int ret;

	if (strcmp(path, "-"))
		return script_read(s, path, err);
	ret = buf_read_fd(&text, STDIN_FILENO, SCRIPT_TEXT_MAX, err);
	if (!ret)
		ret = script_parse(s, "stdin", buf_str(&text), text.len, err);
	buf_free(&text);
	return ret;
}

static int format_script(struct script *s, const char *path, struct buf *out, struct err *err)
{
	enum dialect dialect = (enum dialect)(settings.dialect - DIALECT_FIRST);
	int ret;

	ret = read_script(s, path, err);
	if (ret)
		return ret;
	buf_clear(out);
	script_print(s, settings.dialect == KEEP ? s->dialect : dialect, out);
	fwrite(buf_str(out), 1, out->len, stdout);
	return 0;
}

static int run_fmt(int argc, char **argv, struct err *err)
{
	struct script s = { 0 };
	struct buf out = BUF_INIT;
	struct err own;
	int code = EXIT_CLEAN;

	if (argc < 2) {
		err_set(err, EINVAL, "no file given; - is standard input");
		return EXIT_USAGE;
	}
	/* A file that cannot be read does not keep the others from being formatted. */
	for (int i = 1; i < argc; i++) {
		own = (struct err){ 0 };
		if (!format_script(&s, argv[i], &out, &own))
			continue;
		fprintf(stderr, "assay fmt: %s\n", own.text);
		code = EXIT_USAGE;
	}
	script_free(&s);
	buf_free(&out);
	return code;
}

const struct command command_fmt = {
	.name = "fmt",
	.usage = "FILE...",
	.summary = "print scripts and traces in canonical form",
	.text = "Reads scripts and traces of both dialects, which it recognises by their first\n"
		"line, and prints them in canonical form. _-_ is standard input. Comments and\n"
		"blank lines are kept. The output is a fixed point: printing it again does not\n"
		"change it.\n"
		"\n"
		"If a file has an error, its line and column are printed to standard error, the\n"
		"file is not printed, and the exit status is 64.",
	.opts = opts,
	.settings = &settings,
	.reads_only = true,
	.run = run_fmt,
};
