/* metrics.h -- how much of what could be tried was tried, how evenly, and what was not.
 *
 * All work on coverage as JSON, so that files of several tools and runs can be judged alike. */
#ifndef COVER_METRICS_H
#define COVER_METRICS_H

#include <jansson.h>

#include "op/op.h"

/* One argument of a base call, as partitions: how many there are that count, how many were tried,
 * and the deviation of the logarithms of their counts from a target of `target` uses each (the
 * published test coverage deviation, TCD: 0 is best). */
struct metric {
	size_t partitions, covered;
	double deviation;
};
/* A target of 0 is an even share of all uses. */
struct metric metric_of(const json_t *counts, double target);

/* Adds "metrics" (call -> argument, or "(all)" -> fraction, deviation) and "untested"
 * (suggestions). The target is that of metric_of. */
void metrics_add(json_t *coverage, double target);

/* The errnos that manual pages name for a base call, separated by blanks; "": none. */
const char *metrics_errors(const char *call);

/* Adds b's counts to a's; what else both say is left as a says it. */
void metrics_merge(json_t *a, const json_t *b);

#endif
