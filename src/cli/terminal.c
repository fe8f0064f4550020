/* terminal.c -- what commands show while they work, and the options that all of them have for it.
 */
#include "cli/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static struct terminal_state {
	int color; /* enum color_when */
	bool quiet, verbose;
	pid_t pid; /* of the process that speaks */
	struct str_map shown;
} terminal = { .shown = STR_MAP_INIT };

const void *const terminal_settings = &terminal;

#define ROW(field) offsetof(struct terminal_state, field)

const struct opt terminal_opts[] = {
	{ "color", OPT_CHOICE, ROW(color), "auto|always|never",
	  "colours; auto: on a terminal, unless NO_COLOR is set", 0, 0 },
	{ "quiet", OPT_FLAG, ROW(quiet), NULL,
	  "no progress, and no findings before the result is printed", 0, 0 },
	{ "verbose", OPT_FLAG, ROW(verbose), NULL,
	  "print findings when they are found also where standard error is no terminal", 0, 0 },
	OPT_END,
};

static bool opts_have(const struct opt *opts, const char *name, size_t len)
{
	for (; opts && opts->name; opts++)
		if (strlen(opts->name) == len && !strncmp(opts->name, name, len))
			return true;
	return false;
}

/* Is it one of these rows, and no option of the command? */
static bool is_terminal_option(const struct opt *own, const char *arg)
{
	size_t len;

	if (strncmp(arg, "--", 2) || !arg[2])
		return false;
	len = strcspn(arg + 2, "=");
	return opts_have(terminal_opts, arg + 2, len) && !opts_have(own, arg + 2, len);
}

int terminal_take_options(const struct opt *own, int *argc, char **argv, struct err *err)
{
	int left = 1, i, ret = 0;

	terminal.pid = getpid();
	for (i = 1; i < *argc && strcmp(argv[i], "--") && !ret; i++) {
		bool takes_value = !strcmp(argv[i], "--color") && argv[i + 1];
		char *words[] = { argv[0], argv[i], takes_value ? argv[i + 1] : NULL, NULL };
		int count = takes_value ? 3 : 2;

		if (!is_terminal_option(own, argv[i])) {
			argv[left++] = argv[i];
			continue;
		}
		ret = opt_parse(terminal_opts, &terminal, &count, words, err);
		i += takes_value;
	}
	while (i < *argc)
		argv[left++] = argv[i++];
	argv[left] = NULL;
	*argc = left;
	if (terminal.quiet)
		progress_silence();
	return ret;
}

static bool wants_color(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (terminal.color != COLOR_AUTO)
		return terminal.color == COLOR_ALWAYS;
	return isatty(STDERR_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}

/* Red for what loses something, yellow for the rest. */
static const char *color_of(const char *severity)
{
	static const char grave[] = "crash data damage", *at;

	at = *severity ? strstr(grave, severity) : NULL;
	return at ? "\033[1;31m" : "\033[33m";
}

void terminal_show_finding(const json_t *row)
{
	const char *severity = json_text(row, "severity");
	struct buf key = BUF_INIT;
	bool new, color = wants_color();

	if (terminal.quiet || getpid() != terminal.pid ||
	    (!terminal.verbose && !isatty(STDERR_FILENO)))
		return;
	buf_addf(&key, "%s %s", json_text(row, "target"), json_text(row, "group"));
	str_map_put(&terminal.shown, buf_str(&key), &new);
	buf_free(&key);
	if (!new)
		return;
	progress_end();
	fprintf(stderr, "%s%s%s  %s: %s\n", color ? color_of(severity) : "",
		*severity ? severity : json_text(row, "code"), color ? "\033[0m" : "",
		json_text(row, "target"), json_text(row, "title"));
}
