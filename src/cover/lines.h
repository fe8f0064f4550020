/* lines.h -- a file of any length, line by line, in little memory. */
#ifndef COVER_LINES_H
#define COVER_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { LINES_BYTES = 1 << 20 }; /* also the longest line; what is longer is cut there */

struct lines {
	int fd;
	char *data;
	size_t at, len;
	bool ended, cut; /* cut: the last line has no end */
};

/* "-" is standard input. */
int lines_open(struct lines *l, const char *path, struct err *err);
void lines_free(struct lines *l);
/* What the file begins with; nothing is taken. */
int lines_starts_with(struct lines *l, const char *text, bool *ret, struct err *err);
/* 1 and the next line without its newline, 0 at the end, or a negative errno. */
int lines_next(struct lines *l, const char **ret, const char **ret_end, struct err *err);

#endif
