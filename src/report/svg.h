/* svg.h -- pictures within a page.
 *
 * Colours are those of the page's classes, so that they follow light and dark. Every text is
 * escaped here. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include <stddef.h>

struct buf;

/* label: what the picture is of, for those who do not see it. */
void svg_begin(struct buf *out, int width, int height, const char *label);
void svg_end(struct buf *out);
/* anchor: "start", "middle" or "end". */
void svg_text(struct buf *out, double x, double y, const char *anchor, const char *class,
	      const char *text);
/* title: shown where the pointer is; "" for none. */
void svg_rect(struct buf *out, double x, double y, double width, double height, const char *class,
	      const char *title);
void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *class);

/* Values over time; those below zero are unknown. A series without a value is only named. */
struct svg_series {
	const char *name;
	const double *seconds, *values;
	size_t count;
};
enum { SVG_SERIES_MAX = 6 };
void svg_chart(struct buf *out, const char *label, const struct svg_series *series,
	       size_t series_count);

#endif
