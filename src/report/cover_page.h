/* cover_page.h -- coverage of one tool, or of several side by side, as a page of bar charts. */
#ifndef REPORT_COVER_PAGE_H
#define REPORT_COVER_PAGE_H

#include "report/cover_key.h"

enum { COVER_TOOLS_MAX = 16 };

/* At most COVER_TOOLS_MAX. */
void cover_page(struct buf *out, const struct cover_tool *tools, size_t count);

#endif
