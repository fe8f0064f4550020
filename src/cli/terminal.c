/* terminal.c -- what commands show while they work, and the options that all of them have for it.
 */
#include "cli/terminal.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "base/map.h"
#include "base/must.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static struct terminal_state {
	int color; /* enum color_when */
	bool quiet, verbose;
	pid_t pid;       /* of the process that speaks */
	int hears, says; /* a pipe from the processes that it has started; -1: none */
	struct buf heard;
	struct str_map shown;
} terminal = { .hears = -1, .says = -1, .shown = STR_MAP_INIT };

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

static bool terminal_wants_findings(void)
{
	return !terminal.quiet && (terminal.verbose || isatty(STDERR_FILENO));
}

/* To the process that speaks, as a line. What does not fit into the pipe now is in the result. */
static void terminal_pass_on(const json_t *row)
{
	static const char *const keys[] = { "severity", "code", "target", "group", "title" };
	json_t *part = json_object();
	struct buf line = BUF_INIT;
	char *text;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		json_object_set_new(part, keys[i], json_string(json_text(row, keys[i])));
	text = json_dumps(part, JSON_COMPACT);
	if (text)
		buf_addf(&line, "%s\n", text);
	if (line.len && line.len <= PIPE_BUF)
		(void)!write(terminal.says, line.data, line.len);
	free(text);
	json_decref(part);
	buf_free(&line);
}

void terminal_show_finding(const json_t *row)
{
	const char *severity = json_text(row, "severity");
	struct buf key = BUF_INIT;
	bool new, color = wants_color();

	if (getpid() != terminal.pid && terminal.says >= 0)
		terminal_pass_on(row);
	if (getpid() != terminal.pid || !terminal_wants_findings())
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

void terminal_listen(void)
{
	int ends[2];

	if (terminal.hears >= 0 || getpid() != terminal.pid || !terminal_wants_findings() ||
	    pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return;
	terminal.hears = ends[0];
	terminal.says = ends[1];
}

void terminal_hear(void)
{
	char data[PIPE_BUF], *end;
	size_t done = 0;
	ssize_t n;

	if (terminal.hears < 0 || getpid() != terminal.pid)
		return;
	while ((n = read(terminal.hears, data, sizeof(data))) > 0)
		buf_add(&terminal.heard, data, (size_t)n);
	while ((end = memchr(buf_str(&terminal.heard) + done, '\n', terminal.heard.len - done))) {
		size_t len = (size_t)(end - terminal.heard.data) - done;
		json_t *row = json_loadb(terminal.heard.data + done, len, 0, NULL);

		terminal_show_finding(row);
		json_decref(row);
		done += len + 1;
	}
	if (done)
		memmove(terminal.heard.data, terminal.heard.data + done, terminal.heard.len - done);
	terminal.heard.len -= done;
}
