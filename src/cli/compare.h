/* compare.h -- runs side by side: their figures, and which findings each of them has. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "report/formats.h"

struct buf;

/* {"runs": [{"run": DIR, FIGURE: value, ...}], "findings": [{"target", "signature", "title",
 * "severity", "runs": [DIR...]}]}; figures are all that are no lists. */
json_t *compare_runs(const struct report_run *runs, size_t count);
/* {"new": [FINDING...], "gone": [...], "not_run": [...], "still": [...]} of these runs since an
 * earlier one. Not run: the target of an earlier finding was not judged by any of these. */
json_t *compare_since(const struct report_run *before, const struct report_run *runs, size_t count);

/* The figures of compare_runs() as texts: [{"figure": NAME, "cells": [TEXT for each run]}]. */
json_t *compare_figures(const json_t *compared);

/* As tables. */
void compare_print(const json_t *compared, struct buf *out);
void compare_print_since(const json_t *since, struct buf *out);

#endif
