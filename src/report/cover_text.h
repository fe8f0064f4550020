/* cover_text.h -- coverage as tables for a terminal. */
#ifndef REPORT_COVER_TEXT_H
#define REPORT_COVER_TEXT_H

#include <jansson.h>
#include <stddef.h>

struct buf;

struct cover_tool {
	const char *name;
	json_t *coverage; /* input, output, metrics, untested; calls, lost, ... */
};
enum { COVER_TOOLS_MAX = 16 };

/* What one tool tried: every argument and every call's results. */
void cover_text(struct buf *out, const struct cover_tool *tool);
/* Several side by side: how much of every argument each covers. */
void cover_text_compare(struct buf *out, const struct cover_tool *tools, size_t count);

/* Which partitions only one of the tools has tried, and which none, of all there are ("space" of
 * the coverage). */
void cover_text_space(struct buf *out, json_t *space);

#endif
