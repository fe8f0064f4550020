/* cover_key.c -- the tools of a coverage page, and which of them has which colour. */
#include "report/cover_key.h"

#include "base/buf.h"
#include "report/page.h"

void cover_swatch(struct buf *out, size_t tool)
{
	buf_addf(out, "<span class=key><span class=\"bar t%zu\" style=\"width:.7rem\"></span> ",
		 tool % COVER_COLORS);
}

void cover_key(struct buf *out, const struct cover_tool *tools, size_t count)
{
	buf_adds(out, "<p>");
	for (size_t i = 0; i < count; i++) {
		cover_swatch(out, i);
		page_text(out, tools[i].name);
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</p>\n");
}
