/* cover_glance.h -- coverage at a glance: every partition of every argument as one small mark. */
#ifndef REPORT_COVER_GLANCE_H
#define REPORT_COVER_GLANCE_H

#include "report/cover_key.h"

/* Calls with their arguments, as objects of objects: all that any tool used. */
void cover_glance(struct buf *out, const struct cover_tool *tools, size_t count, json_t *calls);
/* The calls that count for others, apart: how often, and how much of each argument. */
void cover_variants(struct buf *out, const struct cover_tool *tools, size_t count);

#endif
