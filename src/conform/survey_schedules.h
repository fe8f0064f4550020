/* survey_schedules.h -- how many schedules of races were tried, and what is left. */
#ifndef CONFORM_SURVEY_SCHEDULES_H
#define CONFORM_SURVEY_SCHEDULES_H

#include <jansson.h>

struct buf;
struct survey;

/* Sums over all targets. CPU time is that of all jobs and kernels, which have ended. */
void survey_count_schedules(const struct survey *s, unsigned preemptions, json_t *figures);
/* "all 4,711 schedules of 980 pairs tried, with at most 2 switches each"; where it ended before,
 * how far it came with each number of switches. */
void survey_print_schedules(const struct survey *s, unsigned preemptions, struct buf *out);

#endif
