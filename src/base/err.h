/* err.h -- why something of ours failed: filled once, printed once, by cmd; and what a mistyped
 * name may have meant.
 *
 * A function that can fail returns 0 or a negative errno and takes `struct err *` last.
 * What the file system under test answered is never an err: that is an outcome. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stddef.h>

enum { ERR_TEXT_MAX = 1024 };

struct err {
	int code;                /* negative errno, 0 while nothing failed */
	char text[ERR_TEXT_MAX]; /* one sentence, no newline */
};

/* Fills err unless it is filled already (the innermost reason wins); returns -errno_code. */
int err_set(struct err *err, int errno_code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, with ": " and the system's text of errno_code behind it. */
int err_sys(struct err *err, int errno_code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A failure that was to be expected is none: where status is -errno_code, err is empty again and
 * the status 0. */
int err_forget(struct err *err, int status, int errno_code);

/* What may have been meant by a name that does not exist. */
struct nearest {
	const char *given;
	const char *name; /* the nearest one so far, or NULL where none is near */
	size_t distance;
};

#define NEAREST_TO(text) ((struct nearest){ .given = (text) })
/* One of the names that do exist. It must stay valid as long as n->name is used. */
void nearest_offer(struct nearest *n, const char *name);
/* Adds "; did you mean NAME?" to the sentence, where there is one that is near. */
void err_suggest(struct err *err, const struct nearest *n);

#endif
