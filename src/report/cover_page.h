/* cover_page.h -- coverage of one tool, or of several side by side, as a page of bar charts. */
#ifndef REPORT_COVER_PAGE_H
#define REPORT_COVER_PAGE_H

#include <jansson.h>
#include <stddef.h>

struct buf;

enum { COVER_TOOLS_MAX = 16 };

struct cover_tool {
	const char *name;
	json_t *coverage; /* input, output, metrics, untested; calls, lost, ... */
};

enum { COVER_COLORS = 6 };
/* Which tool has which colour. */
void cover_key(struct buf *out, const struct cover_tool *tools, size_t count);

/* At most COVER_TOOLS_MAX. */
void cover_page(struct buf *out, const struct cover_tool *tools, size_t count);

#endif
