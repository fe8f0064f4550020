/* err.c -- filling in why something of ours failed, and what may have been meant. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"

static void err_fill(struct err *err, int errno_code, const char *format, va_list args)
{
	err->code = -errno_code;
	vsnprintf(err->text, sizeof(err->text), format, args);
}

int err_set(struct err *err, int errno_code, const char *format, ...)
{
	va_list args;

	must(errno_code > 0);
	if (!err || err->code)
		return -errno_code;
	va_start(args, format);
	err_fill(err, errno_code, format, args);
	va_end(args);
	return -errno_code;
}

int err_sys(struct err *err, int errno_code, const char *format, ...)
{
	va_list args;
	size_t len;

	must(errno_code > 0);
	if (!err || err->code)
		return -errno_code;
	va_start(args, format);
	err_fill(err, errno_code, format, args);
	va_end(args);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", strerror(errno_code));
	return -errno_code;
}

int err_forget(struct err *err, int status, int errno_code)
{
	if (status != -errno_code)
		return status;
	*err = (struct err){ 0 };
	return 0;
}

enum { NEAREST_NAME_MAX = 31, NEAREST_DISTANCE_MAX = 2 };

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters have to be added, left out, replaced, or exchanged with their neighbour. The
 * rows of the table are those of the last three letters of `given`. */
static size_t edit_distance(const char *given, const char *name)
{
	size_t rows[3][NEAREST_NAME_MAX + 1], len = strlen(name);
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; given[i]; i++) {
		spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = i + 1;
		for (size_t j = 1; j <= len; j++) {
			row[j] = lesser(lesser(above[j], row[j - 1]) + 1,
					above[j - 1] + (given[i] != name[j - 1]));
			if (i && j > 1 && given[i] == name[j - 2] && given[i - 1] == name[j - 1])
				row[j] = lesser(row[j], before[j - 2] + 1);
		}
	}
	return row[len];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t len = strlen(name), d;

	if (len > NEAREST_NAME_MAX || strlen(n->given) > len + NEAREST_DISTANCE_MAX)
		return;
	d = edit_distance(n->given, name);
	/* Half of a short name is not a slip of the finger. */
	if (d > NEAREST_DISTANCE_MAX || 2 * d >= len || (n->name && d >= n->distance))
		return;
	n->name = name;
	n->distance = d;
}

void err_suggest(struct err *err, const struct nearest *n)
{
	size_t len;

	if (!err || !n->name)
		return;
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, "; did you mean %s?", n->name);
}
