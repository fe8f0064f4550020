/* html.h -- texts and counts as HTML, and JSON within a page. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <jansson.h>

struct buf;

/* Escaped, also for attributes and for XML; what is not UTF-8, and control characters that HTML and
 * XML do not have, as "\x1b". NULL is nothing. */
void html_text(struct buf *out, const char *text);
/* 1 234 567 */
void html_count(struct buf *out, long long count);
/* Within a script element, which no text in it can end. */
void html_json(struct buf *out, const json_t *data);

#endif
