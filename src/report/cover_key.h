/* cover_key.h -- the tools of a coverage page, and which of them has which colour. */
#ifndef REPORT_COVER_KEY_H
#define REPORT_COVER_KEY_H

#include <jansson.h>
#include <stddef.h>

struct buf;

struct cover_tool {
	const char *name;
	json_t *coverage; /* input, output, metrics, untested; calls, lost, ... */
};

enum { COVER_COLORS = 6 };
/* The colour of a tool, before its name. */
void cover_swatch(struct buf *out, size_t tool);
/* Which tool has which colour. */
void cover_key(struct buf *out, const struct cover_tool *tools, size_t count);

#endif
