/* space.h -- everything that could be tried, and which tool has tried what of it.
 *
 * The denominator is the same for every tool: each partition of each traced argument of each call,
 * and each errno that manual pages name. A call that was never made has all of them untested. */
#ifndef COVER_SPACE_H
#define COVER_SPACE_H

#include <jansson.h>
#include <stddef.h>

/* {"partitions": all there are, "covered": {NAME: count}, "only": {NAME: [GAP...]}, "all": by every
 * tool, "neither": [GAP...]}; a gap is "open flags O_TMPFILE" or "EXDEV from rename". Of one tool,
 * "only" is empty. */
json_t *space_compare(const char *const *names, json_t *const *coverages, size_t count);

struct buf;
/* The name of such a gap; argument is NULL for a result, which is "success" or an errno. */
void space_gap_name(const char *call, const char *argument, const char *partition, struct buf *out);

#endif
