/* log.c -- the progress line. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { COLUMNS_DEFAULT = 80, LINE_MAX_BYTES = 512 };

static bool shown, silent;

bool progress_wanted(void)
{
	const char *term = getenv("TERM");

	return !silent && isatty(STDERR_FILENO) && term && strcmp(term, "dumb");
}

static int terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2)
		return COLUMNS_DEFAULT;
	return size.ws_col;
}

/* Cut to one column less than the terminal has: a line that wraps could not be rewritten. */
void progress_show(const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;

	if (!progress_wanted())
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "\r%.*s\033[K", terminal_columns() - 1, line);
	fflush(stderr);
	shown = true;
}

void progress_end(void)
{
	if (!shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	shown = false;
}

void progress_silence(void)
{
	silent = true;
}

const char *progress_left(double seconds, double limit)
{
	static char text[32];

	text[0] = '\0';
	if (limit > 0)
		snprintf(text, sizeof(text), ", %.0f s left",
			 limit > seconds ? limit - seconds : 0);
	return text;
}
