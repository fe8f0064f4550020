/* learned_page.h -- what a file system was found to lack, as a part of a page. */
#ifndef REPORT_LEARNED_PAGE_H
#define REPORT_LEARNED_PAGE_H

#include <jansson.h>

struct buf;

/* learned and descriptions: of run.json. Nothing where nothing was learned. */
void learned_section(struct buf *out, const json_t *learned, const json_t *descriptions);

#endif
