/* published.h -- what reader and writer of the published dialect share. */
#ifndef TRACE_PUBLISHED_H
#define TRACE_PUBLISHED_H

#include "trace/dialect.h"

/* Operations of another name there. */
struct published_name {
	const char *name;
	enum op op;
};
extern const struct published_name published_names[]; /* NULL-terminated by name */

/* The word in front of a number of the kind, "FD", or NULL. */
const char *published_tag(enum kind kind);
/* Permissions: decimal, 0o755 or <rwxr-xr-x>. */
int published_mode(struct lexer *l, int64_t *ret);
/* A returned value, or a set of them in braces. */
int published_returned(struct script_reader *r, uint16_t pid, bool has_pid);

#endif
