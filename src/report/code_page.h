/* code_page.h -- coverage of a kernel's code as a part of a page. */
#ifndef REPORT_CODE_PAGE_H
#define REPORT_CODE_PAGE_H

#include <jansson.h>

struct buf;

/* coverage: kernel_coverage of run.json. Nothing where it is NULL. */
void code_section(struct buf *out, json_t *coverage);

#endif
