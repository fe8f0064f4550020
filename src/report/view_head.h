/* view_head.h -- the head of a page: verdict, circumstances, how to repeat the run; its figures. */
#ifndef REPORT_VIEW_HEAD_H
#define REPORT_VIEW_HEAD_H

#include <jansson.h>

json_t *view_head(const json_t *run);
/* All figures of run.json that are no lists and are not in the head. */
json_t *view_figures(const json_t *run);

#endif
