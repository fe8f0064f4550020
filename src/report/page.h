/* page.h -- the frame and the small parts of HTML pages. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

struct buf;

/* verdict: "ok", "unknown" or "bad". */
void page_begin(struct buf *out, const char *command, const char *target, const char *verdict);
void page_end(struct buf *out);
void page_heading(struct buf *out, const char *text);
/* Escaped; NULL is nothing. */
void page_text(struct buf *out, const char *text);
/* Preformatted. */
void page_box(struct buf *out, const char *text);
/* 1 234 567 */
void page_count(struct buf *out, long long count);

#endif
