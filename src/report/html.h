/* html.h -- texts and counts as HTML, and JSON within a page. */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <jansson.h>

struct buf;

/* The entity of a character that HTML and XML reserve; NULL: it needs none. */
const char *html_entity(char c);
/* Escaped, also for attributes; control characters that HTML does not have as "\x1b". The text is
 * UTF-8, as all of JSON is. NULL is nothing. */
void html_text(struct buf *out, const char *text);
/* 1 234 567 */
void html_count(struct buf *out, long long count);
/* Within a script element, which no text in it can end. */
void html_json(struct buf *out, const json_t *data);

#endif
